import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { isRunning } from '../processes/other-program.ts'

const FAULTS = join(import.meta.dirname, '..', 'crash', 'faults.ts')
const LOOK_MS = 20
const ANSWER_MS = 60_000
const DRAFT = { ref: 'a', type: 'trade', kind: 'buy', kots: '1' }

type Stage = AsyncDisposable &
  Readonly<{
    /** Starts the service on the stage's data directory; `options` beside the usual ones. */
    start(...options: readonly string[]): Promise<NodeProcess>
    /** Changes the clock of the writer, at once or at its start. */
    clock(change: 'step-clock' | 'unstep-clock'): void
  }>

function openStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-clock-'))
  const faults = join(folder, 'faults')
  mkdirSync(faults)
  const wrapper = ['env', `NODE_OPTIONS=--import=${FAULTS}`, `FAULTS_OF_TEST=${faults}`]
  const nodes: NodeProcess[] = []
  return {
    async start(...options) {
      const node = await startNode(join(folder, 'data'), options, wrapper)
      nodes.push(node)
      return node
    },
    clock: (change) => writeFileSync(join(faults, `${change}-writer`), ''),
    async [Symbol.asyncDispose]() {
      for (const { child, end } of nodes) {
        if (isRunning(child)) await end('SIGKILL')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until the node accepts publishes, or does not. */
async function untilReady({ publishUrl }: NodeProcess, wanted: boolean): Promise<void> {
  const deadline = performance.now() + ANSWER_MS
  for (;;) {
    const { ok } = await fetch(`${publishUrl}/readyz?for=publish`)
    if (ok === wanted) return
    assert.ok(performance.now() < deadline, `/readyz?for=publish still answers ${ok}`)
    await sleep(LOOK_MS)
  }
}

async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text()
}

/** Waits until the service has reported what the pattern says. */
async function untilSaid({ stderr }: NodeProcess, pattern: RegExp): Promise<void> {
  const deadline = performance.now() + ANSWER_MS
  while (!pattern.test(stderr())) {
    assert.ok(performance.now() < deadline, stderr())
    await sleep(LOOK_MS)
  }
}

suite('a service whose clock is wrong', () => {
  test('publishes nothing while it has left the monotonic clock, reports it, and goes on when they agree', async () => {
    await using stage = openStage()
    const node = await stage.start()
    stage.clock('step-clock')
    await untilReady(node, false)
    const refused = await node.publish([DRAFT])
    assert.deepEqual([refused.status, refused.code], [503, 'clock'])
    assert.equal(refused.headers.get('retry-after'), '10')
    await untilSaid(node, /the clock was set by 60 s or more/)
    assert.equal((await fetch(`${node.url}/api/v1/summary`)).status, 200, 'reading goes on')
    stage.clock('unstep-clock')
    await untilReady(node, true)
    assert.equal((await node.publish([DRAFT])).status, 200)
    await untilSaid(node, /the clock agrees again/)
  })

  test('publishes nothing after a start with the newest event ahead, but with --accept-clock', async () => {
    await using stage = openStage()
    stage.clock('step-clock')
    const ahead = await stage.start()
    assert.equal(
      (await ahead.publish([DRAFT])).status,
      200,
      'a clock that is wrong from the start is not seen',
    )
    assert.equal((await ahead.end('SIGTERM')).code, 0)
    const behind = await stage.start()
    const next = { ...DRAFT, ref: 'b' }
    const refused = await behind.publish([next])
    assert.deepEqual([refused.status, refused.code], [503, 'clock'])
    await untilSaid(behind, /the newest event is more than 60 s ahead of the clock/)
    assert.equal((await behind.end('SIGTERM')).code, 0)
    const accepting = await stage.start('--accept-clock')
    assert.equal((await accepting.publish([next])).status, 200)
    const moments = await Promise.all(
      [1, 2].map(
        async (seq) => /"at":"[^"]*"/.exec(await textOf(`${accepting.url}/api/v1/events/${seq}`))?.[0],
      ),
    )
    assert.ok(moments[0] !== undefined && moments[0] === moments[1], '`at` waits for the clock')
  })
})
