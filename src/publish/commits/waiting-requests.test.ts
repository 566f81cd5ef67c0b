import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openWaitingRequests } from './waiting-requests.ts'

/** Sizes of the requests of each commit. All requests arrive before the first one. */
function commitsOf(sizes: readonly number[], requestsMax: number): readonly (readonly number[])[] {
  const waiting = openWaitingRequests({ requestMax: Number.POSITIVE_INFINITY, requestsMax }, () => 0)
  for (const size of sizes) void waiting.add({ drafts: 1, size }, () => size)
  const commits: (readonly number[])[] = []
  while (waiting.count() > 0) commits.push(waiting.take().map(({ size }) => size))
  return commits
}

suite('the requests that wait for a commit', () => {
  test('share it in their order as far as it has room, and the first is never left', () => {
    for (const [sizes, commits] of [
      [[], []],
      [[10], [[10]]],
      [
        [4, 6, 1],
        [[4, 6], [1]],
      ],
      [
        [4, 7, 1],
        [[4], [7, 1]],
      ],
      [
        [11, 1, 2],
        [[11], [1, 2]],
      ],
      [
        [10, 0, 1],
        [[10, 0], [1]],
      ],
    ] as const) {
      assert.deepEqual(commitsOf(sizes, 10), commits)
    }
    fc.assert(
      fc.property(fc.array(fc.nat(15)), (sizes) => {
        const commits = commitsOf(sizes, 10)
        assert.deepEqual(commits.flat(), sizes)
        for (const commit of commits)
          assert.ok(commit.length === 1 || commit.reduce((sum, size) => sum + size, 0) <= 10)
      }),
    )
  })

  test('are refused when one alone is larger than a request may be', async () => {
    const waiting = openWaitingRequests({ requestMax: 10, requestsMax: 20 }, () => 7)
    const outcomes = [10, 11].map((size) => waiting.add({ drafts: 1, size }, () => size))
    assert.equal(waiting.count(), 1)
    for (const { run, arrivedMs } of waiting.take()) {
      assert.equal(arrivedMs, 7)
      run()()
    }
    const [fits, larger] = await Promise.all(outcomes)
    assert.equal(fits, 10)
    assert.ok(typeof larger === 'object' && larger.code === 'too-large')
  })
})
