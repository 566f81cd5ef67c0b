import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openApiStage } from '../../test/stage/api-stage.ts'
import { sendRaw } from '../../test/stage/raw-request.ts'
import type { Route } from './http/route.ts'

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: daybook.test\r\n\r\n`

const waiting: Route = {
  path: '/waiting',
  parameters: [],
  allowance: 'none',
  streaming: true,
  handle: ({ response }) => {
    response.writeHead(200)
    response.write('first')
    return { is: 'streamed' }
  },
}

/** Far longer than a stop whose answers are cut after 200 ms. */
const STOP_MS_MAX = 30_000
/** More than the kernel buffers for a caller that does not read. */
const LARGE_BYTES = 32 * 1024 * 1024

suite('a listener that stops', () => {
  test('lets answers in progress end, and closes those that do not end in time', async () => {
    const stage = await openApiStage({ routes: [waiting], server: { drainMs: 200 } })
    const open = sendRaw(stage.port, request('/waiting'))
    const idle = sendRaw(stage.port, request('/api/v1/summary'))
    await stage.get('/api/v1/summary')
    const { port } = stage
    await stage[Symbol.asyncDispose]()
    assert.match((await open).text, /first/)
    assert.match((await idle).text, /"asOf"/)
    const refused = await new Promise((resolve) => {
      connect(port, '127.0.0.1')
        .on('error', () => resolve(true))
        .on('connect', () => resolve(false))
    })
    assert.equal(refused, true)
  })

  test('cuts the connection of a caller that asked for a tunnel behind an answer without end', async () => {
    const stage = await openApiStage({ routes: [waiting], server: { drainMs: 200 } })
    const socket = connect(stage.port, '127.0.0.1')
    socket.write(`${request('/waiting')}CONNECT daybook.test:1 HTTP/1.1\r\nHost: daybook.test:1\r\n\r\n`)
    await once(socket, 'data')
    const stopped = stage[Symbol.asyncDispose]().then(() => 'stopped')
    const first = await Promise.race([stopped, sleep(STOP_MS_MAX, 'still waits', { ref: false })])
    socket.destroy()
    assert.equal(first, 'stopped')
  })

  test('does not cut an answer that is written and not taken yet', async () => {
    const asked = Promise.withResolvers<void>()
    const large: Route = {
      path: '/large',
      parameters: [],
      allowance: 'none',
      brief: true,
      handle() {
        setImmediate(asked.resolve)
        const body = Buffer.alloc(LARGE_BYTES)
        return { is: 'body', keep: 'no-store', etag: null, type: 'text/plain', body, compress: false }
      },
    }
    const stage = await openApiStage({ routes: [large], server: { drainMs: 5_000 } })
    const socket = connect(stage.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(request('/large'))
    await asked.promise
    const stopped = stage[Symbol.asyncDispose]()
    let bytes = 0
    for await (const chunk of socket) bytes += chunk.length
    assert.ok(bytes > LARGE_BYTES, `${bytes} bytes came`)
    await stopped
  })
})
