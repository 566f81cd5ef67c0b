import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH, type StoryEvent } from '../../../test/story/api-story.ts'
import { DAY_MS, formatAt, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { BUCKETS } from '../../protocol/enumerations.ts'
import type { Flows, Funds, Patterns } from '../../protocol/endpoints/figure-endpoints.ts'

const DEPOSIT: StoryEvent = { type: 'treasury', kind: 'deposit', kots: '1000' }
const IMMUTABLE = 'public, max-age=31536000, immutable'
const PATHS = ['/flows', '/funds', '/patterns'] as const

async function jsonOf<Answer>(stage: ApiStage, path: string): Promise<Answer> {
  const response = await stage.get(`/api/v1${path}`)
  assert.equal(response.status, 200, path)
  return (await response.json()) as Answer
}

suite('on an empty log a range', () => {
  test('is the present bucket, and there is no launch', async () => {
    await using stage = await openApiStage({ story: [] })
    for (const bucket of BUCKETS) {
      for (const path of ['/flows', '/funds']) {
        const answer = await jsonOf<Flows | Funds>(stage, `${path}?bucket=${bucket}`)
        assert.equal(answer.buckets.length, 1, `${path} by ${bucket}`)
        assert.equal(answer.buckets[0]?.complete, false)
        assert.deepEqual([answer.launchedAt, answer.launchedAtMs], [null, null])
        assert.equal(answer.now?.atMs, LAUNCH + 2 * DAY_MS)
        assert.equal((await stage.get(`${path}?bucket=${bucket}`)).status, 200)
        assert.equal((await stage.get(`${path}.svg?bucket=${bucket}`)).status, 200)
      }
    }
    const { from, to, launchedAt } = await jsonOf<Patterns>(stage, '/patterns')
    assert.deepEqual([from, to, launchedAt], ['2026-10-03T00:00:00.000Z', '2026-10-03T00:01:00.000Z', null])
  })

  test('is never immutable, and its ETag changes with the minute', async () => {
    await using stage = await openApiStage({ story: [] })
    for (const path of ['/flows?to=2026-10-01', '/funds', '/patterns']) {
      const first = await stage.get(`/api/v1${path}`)
      assert.equal(first.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
      stage.setNow(msOf(LAUNCH + 2 * DAY_MS + MINUTE_MS + 1))
      const later = await stage.get(`/api/v1${path}`)
      assert.notEqual(later.headers.get('etag'), first.headers.get('etag'), path)
      stage.setNow(msOf(LAUNCH + 2 * DAY_MS + 30_000))
    }
  })
})

suite('on a log of one event a range', () => {
  test('begins with the bucket of the event', async () => {
    await using stage = await openApiStage({ story: [DEPOSIT] })
    for (const bucket of ['hour', 'day', 'week', 'month']) {
      const answer = await jsonOf<Flows>(stage, `/flows?bucket=${bucket}`)
      assert.equal(answer.launchedAtMs, LAUNCH)
      assert.ok(answer.fromMs <= LAUNCH && LAUNCH < (answer.buckets[1]?.atMs ?? answer.toMs), bucket)
    }
  })

  test('may end with the moment of the event, and may end before it', async () => {
    await using stage = await openApiStage({ story: [DEPOSIT] })
    const before = await stage.get(`/api/v1/flows?to=${LAUNCH}`)
    assert.equal(before.headers.get('cache-control'), IMMUTABLE)
    const { buckets, asOf, toMs } = (await before.json()) as Flows
    assert.deepEqual([buckets.length, asOf.seq, toMs], [90, 0, LAUNCH])
    const { buckets: first } = await jsonOf<Flows>(stage, `/flows?to=${LAUNCH + 1}`)
    assert.deepEqual([first.length, first[0]?.atMs], [1, LAUNCH])
  })
})

suite('when the head is ahead of the clock, a range', () => {
  test('reaches to the head, and states the head’s minute as the present', async () => {
    await using stage = await openApiStage({ story: [DEPOSIT, DEPOSIT], apartMs: 5 * DAY_MS + 90_000 })
    const head = LAUNCH + 5 * DAY_MS + 90_000
    for (const path of ['/flows', '/funds', '/patterns', `/flows?from=${head}&bucket=minute`]) {
      const answer = await jsonOf<Flows | Funds | Patterns>(stage, path)
      assert.equal(answer.now?.atMs, LAUNCH + 5 * DAY_MS + MINUTE_MS, path)
      assert.ok(head < answer.toMs, path)
    }
    const after = formatAt(msOf(LAUNCH + 6 * DAY_MS + 1))
    const future = await stage.get(`/api/v1/flows?from=${LAUNCH}&to=${after}`)
    assert.equal(future.status, 400)
    assert.match(await future.text(), /"code":"in-the-future"/)
  })
})

suite('the ETag of a range', () => {
  test('changes with the minute only when the range depends on the present', async () => {
    await using stage = await openApiStage()
    const tags = async (): Promise<readonly (string | null)[]> => {
      const asked = PATHS.flatMap((path) => [path, `${path}?from=2026-09-30`, `${path}?to=2026-10-03`])
      const responses = await Promise.all(asked.map((path) => stage.get(`/api/v1${path}`)))
      return responses.map((response) => response.headers.get('etag'))
    }
    const first = await tags()
    stage.setNow(msOf(LAUNCH + 2 * DAY_MS + 59_999))
    assert.deepEqual(await tags(), first)
    stage.setNow(msOf(LAUNCH + 2 * DAY_MS + 60_000))
    const later = await tags()
    for (const [index, tag] of first.entries()) {
      assert.equal(later[index] === tag, index % 3 === 2, `${index}: ${tag}`)
    }
  })

  test('is of an immutable answer once the log has passed the end of the range, not before', async () => {
    await using stage = await openApiStage({ story: [DEPOSIT, DEPOSIT], apartMs: DAY_MS })
    const cacheOf = async (path: string): Promise<string | null> =>
      (await stage.get(`/api/v1${path}`)).headers.get('cache-control')
    const month = 'bucket=month&from=2026-09-01'
    assert.equal(await cacheOf(`/flows?${month}&to=2026-10-01`), IMMUTABLE)
    assert.equal(await cacheOf('/flows?to=2026-10-02'), IMMUTABLE)
    assert.equal(await cacheOf('/patterns?to=2026-10-02'), IMMUTABLE)
    assert.notEqual(await cacheOf('/flows?to=2026-10-03'), IMMUTABLE)
    assert.notEqual(await cacheOf(`/flows?${month}&to=2026-11-01`), IMMUTABLE)
    assert.notEqual(await cacheOf('/funds?to=2026-10-02'), IMMUTABLE)
  })
})
