import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { storePath } from '../../src/log/store/store.ts'
import { assertConsistent, linesOf } from '../stage/publish-stage.ts'
import { startNode } from '../stage/node-process.ts'
import { openFolder } from '../story/damaged-log.ts'

const PUBLISHERS = 8
const STOPS = 4
/** Less than the time that endless connections get. */
const STOP_MS_MAX = 4_000
const ANSWERS_BEFORE = 25

suite('a service that is stopped while it publishes', () => {
  test('answers the requests in progress, keeps their events, and ends at once', async () => {
    using folder = openFolder()
    const data = join(folder.path, 'data')
    const seqs = new Map<number, string>()
    let number = 0
    for (let stops = 0; stops < STOPS; stops += 1) {
      const node = await startNode(data)
      const run: { ended: ReturnType<typeof node.end> | undefined; answers: number; stopMs: number } = {
        ended: undefined,
        answers: 0,
        stopMs: 0,
      }
      const publisher = async (): Promise<void> => {
        for (;;) {
          number += 1
          const draft = { ref: `r${number}`, type: 'trade', kind: 'buy', kots: `${number}.000000000` }
          const answer = await node.publish([draft]).catch(() => undefined)
          // The publish API is closed.
          if (answer === undefined) return
          // The service is stopping. Nothing was published.
          if (answer.code === 'not-ready') return
          assert.equal(answer.status, 200, answer.code)
          seqs.set(answer.drafts[0]?.seq ?? 0, draft.kots)
          run.answers += 1
          if (run.answers !== ANSWERS_BEFORE) continue
          const began = performance.now()
          run.ended = node.end('SIGTERM').finally(() => (run.stopMs = performance.now() - began))
        }
      }
      await Promise.all(Array.from({ length: PUBLISHERS }, publisher))
      assert.deepEqual(await run.ended, { code: 0, signal: null }, node.stderr())
      assert.ok(run.stopMs < STOP_MS_MAX, `the stop took ${run.stopMs} ms`)
    }
    const events = assertConsistent(storePath(data))
    const lines = linesOf(storePath(data)).map((line) => (JSON.parse(line) as { kots: string }).kots)
    for (const [seq, kots] of seqs) assert.equal(lines[seq - 1], kots)
    assert.ok(seqs.size >= STOPS * ANSWERS_BEFORE && events >= seqs.size)
  })
})
