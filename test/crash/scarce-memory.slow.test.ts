import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { storePath } from '../../src/log/store/store.ts'
import { isRunning } from '../processes/other-program.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { assertConsistent } from '../stage/publish-stage.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'

/** Memory that the process may still take: less than a request of some thousand drafts needs. */
const MORE_BYTES = 4_000_000
const DRAFTS = 5_000
const REQUESTS_MAX = 12
const END_MS_MAX = 30_000

const draftsOf = (request: number): readonly object[] =>
  Array.from({ length: DRAFTS }, (_, index) => ({
    ref: `ref-${request}-${index}`,
    type: 'trade',
    kind: 'buy',
    kots: '1',
    tx: `tx:${request}:${index}:`.padEnd(128, '-'),
  }))

/** Status of the answer; 0 when the service ended before it answered. */
const publish = async (node: NodeProcess, request: number): Promise<number> =>
  await node.publish(draftsOf(request)).then(
    ({ status }) => status,
    () => 0,
  )

suite('a service whose memory ends', { skip: skipWithout('prlimit') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-memory-'))
  test.after(() => rmSync(folder, { recursive: true }))

  test('loses nothing that was acknowledged, and starts again', async () => {
    const data = join(folder, 'data')
    const node = await startNode(data)
    const closed = once(node.child, 'close', { signal: AbortSignal.timeout(END_MS_MAX) })
    assert.equal(await publish(node, 0), 200)
    const { pid = 0 } = node.child
    const used = Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
    execFileSync('prlimit', ['--pid', String(pid), `--data=${used + MORE_BYTES}`])
    let acknowledged = DRAFTS
    for (let request = 1; request < REQUESTS_MAX; request += 1) {
      if ((await publish(node, request)) !== 200) break
      acknowledged += DRAFTS
    }
    // It may get by with the memory that it has.
    if (isRunning(node.child)) await node.end('SIGKILL')
    await closed
    assert.ok(assertConsistent(storePath(data)) >= acknowledged)
    const again = await startNode(data)
    assert.equal(await publish(again, REQUESTS_MAX), 200)
    assert.equal((await again.end('SIGTERM')).code, 0)
  })
})
