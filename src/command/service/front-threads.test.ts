import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { freePort } from '../../../test/processes/free-ports.ts'
import { createStore, storePath } from '../../log/store/store.ts'
import { openLines } from '../log-lines/log-lines.ts'
import { allocateFront } from './front-memory.ts'
import { NO_PARQUET } from '../../serve/archive/parquet-reply.ts'
import { startFrontThreads } from './front-threads.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Whether something listens on a port. */
function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

suite('serving threads', () => {
  test('are all stopped when one of them does not start', async () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-threads-'))
    try {
      createStore(storePath(data), { origin: 'daybook.test/threads', chain: 'opaque', simulated: false })
      const limits = { rateLimit: null, streamsMax: 10, connectionsMax: 20 }
      const memory = allocateFront(openHeadCell().buffer, limits, 'a secret')
      const port = await freePort()
      const settings = {
        data,
        host: '127.0.0.1',
        port,
        // Only one of them gets the port.
        reusePort: false,
        connectionsMax: 10,
        streamsMax: 10,
        drainMs: 0,
        trustProxy: '',
        publicUrl: null,
        asksChain: false,
        following: false,
        mirrorOf: null,
      }
      const lines = openLines(
        () => undefined,
        () => 0,
        { level: 'fatal', callers: false },
      )
      const starting = startFrontThreads(
        2,
        { settings, memory, lineChoice: lines.choice() },
        { lines, parquet: NO_PARQUET, broken: () => undefined },
      )
      await assert.rejects(starting, /EADDRINUSE/)
      assert.equal(await isListening(port), false)
    } finally {
      rmSync(data, { recursive: true })
    }
  })
})
