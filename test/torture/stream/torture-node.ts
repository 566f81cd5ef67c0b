import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Random } from '../../../sim/random.ts'
import type { ServiceSettings } from '../../../src/command/service/service.ts'
import { storePath } from '../../../src/log/store/store.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { openSharedClock } from '../../../src/publish/writer/shared-clock.ts'
import { run } from '../../stage/command-stage.ts'
import { assertConsistent } from '../../stage/publish-stage.ts'
import { postDrafts, startLocalNode } from '../../stage/manual-node.ts'
import { openLogModel } from '../../story/log-model.ts'
import { TEST_KEY } from '../../story/signing.ts'

const NEW_LOG = { origin: 'daybook.test/torture', chain: 'opaque', simulated: false } as const
/** Deposits that may still be corrected. */
const DEPOSITS_MAX = 50

/** A whole service in this process, and a publisher that writes every type of event that readers filter by. */
export type TortureNode = AsyncDisposable &
  Readonly<{
    port: number
    url: string
    data: string
    /** Newest seq that the publisher was told. */
    head(): number
    /** Milliseconds of the service's clock. */
    nowMs(): number
    setNow(ms: number): void
    /** Publishes `count` drafts or a few more after the requests before it. Resolves with the newest seq. */
    publish(count: number): Promise<number>
    /** Value of a metric of the service, such as `daybook_stream_clients`. */
    metric(name: string): Promise<number>
    /** Verifies the log from outside, stops the service, and recomputes its store. */
    assertWhole(): Promise<void>
  }>

export async function openTortureNode(
  random: Random,
  nowMs: number,
  settings: Partial<ServiceSettings> = {},
): Promise<TortureNode> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-torture-'))
  const data = join(folder, 'data')
  const clock = openSharedClock()
  clock.set(msOf(nowMs))
  const service = await startLocalNode(data, NEW_LOG, [TEST_KEY], clock, { settings })
  const url = `http://127.0.0.1:${service.port}`
  const drafts = openDrafts(random)
  let head = 0
  let last: Promise<unknown> = Promise.resolve()
  let stopped = false
  const stop = async (): Promise<void> => {
    if (!stopped) await service[Symbol.asyncDispose]()
    stopped = true
  }

  async function publishNext(count: number): Promise<number> {
    const sent = drafts.next(count)
    const answer = await postDrafts(service, sent)
    assert.equal(answer.status, 200, await answer.clone().text())
    const told = (await answer.json()) as { drafts: { seq: number }[] }
    const seqs = told.drafts.map(({ seq }) => seq)
    assert.deepEqual(
      seqs,
      sent.map((_, index) => head + 1 + index),
    )
    drafts.published(seqs)
    head += sent.length
    return head
  }

  return {
    port: service.port,
    url,
    data,
    head: () => head,
    nowMs: clock.now,
    setNow: (ms) => clock.set(msOf(ms)),
    publish(count) {
      const published = last.then(() => publishNext(count))
      last = published.catch(() => undefined)
      return published
    },
    async metric(name) {
      const text = await (await fetch(`http://127.0.0.1:${service.publishPort}/metrics`)).text()
      const lines = text
        .split('\n')
        .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      assert.ok(lines.length > 0, `no metric ${name}`)
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    },
    async assertWhole() {
      const verified = await run(['verify', url], { now: clock.now })
      assert.equal(verified.code, 0, verified.stdout + verified.stderr)
      await stop()
      assertConsistent(storePath(data))
    },
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

type SentDraft = Readonly<{ type: string; kots?: string }>

/** Drafts of a small platform in an order that the books admit, with corrections of its own deposits. */
function openDrafts(random: Random): Readonly<{
  next(count: number): readonly SentDraft[]
  published(seqs: readonly number[]): void
}> {
  const model = openLogModel()
  const deposits: (readonly [seq: number, kots: string])[] = []
  let own = 0
  let sent: readonly SentDraft[] = []
  return {
    next(count) {
      const ref = `own-${++own}`
      const kots = `${random.between(1, 900)}.000000001`
      const corrected = random.chance(0.5) ? deposits.shift() : undefined
      const treasury =
        corrected === undefined
          ? { ref, type: 'treasury', kind: 'deposit', kots }
          : {
              ref,
              type: 'correction',
              kind: 'treasury',
              kots: `-${corrected[1]}`,
              details: { corrects: corrected[0] },
            }
      sent = [...model.drafts(random, Math.max(0, count - 1)), treasury]
      return sent
    },
    published(seqs) {
      for (const [index, { type, kots = '' }] of sent.entries()) {
        if (type === 'treasury' && deposits.length < DEPOSITS_MAX) deposits.push([seqs[index] ?? 0, kots])
      }
    },
  }
}
