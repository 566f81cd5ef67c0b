import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { CommitJobs } from './commit-jobs.ts'
import { openCommitJobs } from './commit-jobs.ts'
import { openReplicaClock } from './replica-clock.ts'

/** Adds a commit. Returns its result, and whether its work is still in memory. */
function add(jobs: CommitJobs) {
  const work = (): string => 'built'
  const kept = new WeakRef(work)
  return { result: jobs.add(work), isKept: () => kept.deref() !== undefined }
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  await sleep(1)
  Reflect.apply(collect, undefined, [])
}

suite('commits that wait', () => {
  test('are in memory until they are answered, and no longer', async () => {
    const timers = { now: () => 0, sleep: () => new Promise<never>(() => undefined) }
    const jobs = openCommitJobs(openReplicaClock(timers, new AbortController().signal), () => undefined)
    const refused = add(jobs)
    jobs.refuseAll({ is: 'stopped', reason: 'it has stopped' })
    const failing = add(jobs)
    jobs.refuseWaiting({ is: 'unavailable', reason: 'the disk is full' })
    const results = await Promise.all([refused.result, failing.result])
    assert.deepEqual(
      results.map(({ is }) => is),
      ['stopped', 'unavailable'],
    )
    const waiting = add(jobs)
    await collectGarbage()
    assert.deepEqual(
      [refused, failing, waiting].map(({ isKept }) => isKept()),
      [false, false, true],
    )
    jobs.refuseAll({ is: 'stopped', reason: 'it has stopped' })
    await waiting.result
  })
})
