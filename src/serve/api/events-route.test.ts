import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH, type StoryEvent } from '../../../test/story/api-story.ts'
import { HOUR_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { EXAMINED_MAX } from '../../protocol/parameters.ts'
import type { EventsPage } from '../../protocol/endpoints/event-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATE = 'public, max-age=0, must-revalidate'
/** Length of a log with more events than a page with `nonzero` examines: the thirteen of the story, then trades. */
const HEAD: number = 13 + EXAMINED_MAX
/** The events of the story that belong to a contest. */
const OF_CONTESTS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12]

type Page = EventsPage & Readonly<{ headers: Headers; text: string }>

suite('a page of /events', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage()
    stage.trade(EXAMINED_MAX)
  })
  after(() => stage[Symbol.asyncDispose]())

  async function pageAt(path: string): Promise<Page> {
    const response = await stage.get(path)
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return { ...(JSON.parse(text) as EventsPage), headers: response.headers, text }
  }
  const page = (query: string): Promise<Page> => pageAt(`/api/v1/events${query}`)
  const seqs = ({ events }: EventsPage): number[] => events.map(({ seq }) => seq)

  function lineOf(seq: number): string {
    const line = stage.reader.snapshot((snapshot) => snapshot.line(seqOf(seq)))
    return Buffer.from(line ?? []).toString()
  }

  test('has the exact lines of the log, then `page`', async () => {
    const { text } = await page('?after=1&limit=2')
    const paging =
      '{"after":1,"limit":2,"count":2,"scannedTo":3,"hasMore":true,"next":"/api/v1/events?after=3&limit=2"}'
    assert.equal(text, `{"events":[${lineOf(2)},${lineOf(3)}],"page":${paging}}`)
  })

  test('links from the first event to the last, each once', async () => {
    const met: number[] = []
    let path: string | null = '/api/v1/events?limit=7000&type=contest,trade'
    while (path !== null) {
      const one: Page = await pageAt(path)
      met.push(...seqs(one))
      assert.equal(one.headers.get('link'), one.page.next === null ? null : `<${one.page.next}>; rel="next"`)
      assert.equal(one.headers.get('cache-control'), one.page.hasMore ? IMMUTABLE : REVALIDATE)
      path = one.page.next
    }
    const trades = Array.from({ length: EXAMINED_MAX }, (_, index) => index + 14)
    assert.deepEqual(met, [2, 3, 7, 12, ...trades])
  })

  test('in descending order links from the last event to the first, each once', async () => {
    const met: number[] = []
    let path: string | null = '/api/v1/events?order=desc&limit=9000'
    while (path !== null) {
      const one: Page = await pageAt(path)
      met.push(...seqs(one))
      assert.equal(one.headers.get('cache-control'), met.length === 9000 ? REVALIDATE : IMMUTABLE)
      path = one.page.next
    }
    assert.deepEqual(
      met,
      Array.from({ length: HEAD }, (_, index) => HEAD - index),
    )
  })

  test('that is filtered is full while there is more, however far apart the matches are', async () => {
    const trades = Array.from({ length: EXAMINED_MAX }, (_, index) => index + 14)
    for (const [query, matches] of [
      ['type=contest,treasury', [1, 2, 3, 7, 12]],
      ['type=contest&type=treasury', [1, 2, 3, 7, 12]],
      ['contestId=1,2', OF_CONTESTS],
      ['contestId=2&contestId=1', OF_CONTESTS],
      ['kind=entry,buy', [4, ...trades]],
      ['kind=scheduled&contestId=1,2', [2, 12]],
      ['type=play,payout&contestId=1', [4, 5, 10]],
    ] as const) {
      assert.deepEqual(seqs(await page(`?${query}&limit=10000`)), matches.slice(0, 10_000), query)
      assert.deepEqual(seqs(await page(`?${query}&limit=2`)), matches.slice(0, 2), query)
      const newest = matches.slice(-3).toReversed()
      assert.deepEqual(seqs(await page(`?${query}&order=desc&limit=3`)), newest, query)
      assert.deepEqual(seqs(await page(`?${query}&order=desc&limit=3&before=${HEAD + 1}`)), newest, query)
    }
  })

  test('that finds less than its limit has looked through the whole range', async () => {
    const none = await page('?kind=never_was')
    assert.deepEqual(
      { ...none.page },
      { after: 0, limit: 1000, count: 0, scannedTo: HEAD, hasMore: false, next: null },
    )
    assert.equal(none.headers.get('cache-control'), REVALIDATE)
    assert.equal(none.headers.get('daybook-seq'), String(HEAD))
    const backwards = await page('?contestId=2&order=desc')
    assert.deepEqual([seqs(backwards), backwards.page.scannedTo, backwards.page.hasMore], [[12], 1, false])
  })

  test('repeats every other parameter in `next`', async () => {
    const { page: paging } = await page('?type=trade,contest&kind=buy,opened&nonzero=1&limit=1&to=2027-01-01')
    assert.equal(
      paging.next,
      '/api/v1/events?after=14&to=2027-01-01&type=trade,contest&kind=buy,opened&nonzero=1&limit=1',
    )
  })

  test('begins at the later of `after` and `from`, and ends before `to`', async () => {
    const third = LAUNCH + 2 * MINUTE_MS
    const sixth = LAUNCH + 5 * MINUTE_MS
    assert.deepEqual(seqs(await page(`?from=${third}&to=${sixth}`)), [3, 4, 5])
    assert.deepEqual(seqs(await page(`?from=${third + 1}&to=${sixth + 1}`)), [4, 5, 6])
    assert.deepEqual(seqs(await page(`?from=${third}&after=4&to=${sixth}`)), [5])
    assert.deepEqual(seqs(await page(`?from=${third}&to=${sixth}&order=desc`)), [5, 4, 3])
    assert.deepEqual(seqs(await page(`?from=${third}&before=5&order=desc`)), [4, 3])
  })

  test('from a moment that is later than the present and the head is refused', async () => {
    const end = LAUNCH + HEAD * MINUTE_MS
    // The clock of the stage is behind the head, whose moment counts then.
    assert.equal((await page(`?from=${end - MINUTE_MS}`)).page.count, 1)
    const response = await stage.get(`/api/v1/events?from=${end}`)
    const { code, errors } = (await response.json()) as { code: string; errors: { parameter: string }[] }
    assert.deepEqual([response.status, code, errors[0]?.parameter], [400, 'in-the-future', 'from'])
    await using quiet = await openApiStage()
    const [head, now] = [LAUNCH + 12 * MINUTE_MS, LAUNCH + HOUR_MS]
    quiet.setNow(msOf(now))
    for (const [from, status] of [
      [head + 1, 200],
      [now, 200],
      [now + 1, 400],
    ] as const) {
      assert.equal((await quiet.get(`/api/v1/events?from=${from}`)).status, status)
    }
  })

  test('between reversed bounds is empty and the last', async () => {
    for (const query of ['?after=10&to=0', `?after=10&to=${LAUNCH + 1}`, '?after=9&order=desc&before=3']) {
      const { page: paging } = await page(query)
      assert.equal(paging.count, 0, query)
      assert.equal(paging.hasMore, false, query)
      assert.equal(paging.next, null, query)
    }
  })

  test('in descending order from beyond the head is not immutable', async () => {
    const at = (bound: number) => page(`?order=desc&limit=1&before=${bound}`)
    assert.equal((await at(HEAD + 1)).headers.get('cache-control'), IMMUTABLE)
    assert.equal((await at(HEAD + 2)).headers.get('cache-control'), REVALIDATE)
  })

  test('with nonzero has only events with an amount', async () => {
    assert.deepEqual(seqs(await page('?nonzero=1&limit=4')), [1, 4, 5, 6])
  })

  test('with nonzero ends, perhaps empty, after 20,000 events that its other filters find', async () => {
    await using own = await openApiStage({ apartMs: 1 })
    const free: StoryEvent = { type: 'trade', kind: 'sell', kots: '0' }
    own.append(Array.from({ length: EXAMINED_MAX + 1 }, () => free))
    own.append([{ ...free, kots: '1' }])
    const get = async (query: string): Promise<EventsPage> =>
      (await (await own.get(`/api/v1/events?nonzero=1${query}`)).json()) as EventsPage
    const last = 13 + EXAMINED_MAX + 2
    for (const [query, found, scannedTo, hasMore] of [
      // The events before the trades match no filter, so they are not examined.
      ['&type=trade', [], 13 + EXAMINED_MAX, true],
      ['&kind=sell', [], 13 + EXAMINED_MAX, true],
      [`&kind=sell&after=${13 + EXAMINED_MAX}`, [last], last, false],
      ['&kind=sell&order=desc&limit=2', [last], 13 + 3, true],
      ['&after=13', [], 13 + EXAMINED_MAX, true],
      ['&type=trade&limit=1&order=desc', [last], last, true],
      ['&type=contest', [], last, false],
    ] as const) {
      const one = await get(query)
      assert.deepEqual([seqs(one), one.page.scannedTo, one.page.hasMore], [found, scannedTo, hasMore], query)
    }
  })

  test('of one contest or kind has no others', async () => {
    assert.deepEqual(seqs(await page('?contestId=2')), [12])
    assert.deepEqual(seqs(await page('?kind=voter_share&type=prize')), [9])
    assert.deepEqual(seqs(await page('?type=loyalty,burn')), [11, 13])
  })

  test('after a seq beyond the head is refused, and the problem names the head', async () => {
    const response = await stage.get(`/api/v1/events?after=${HEAD + 1}`)
    const problem = (await response.json()) as { code: string; head: number }
    assert.deepEqual([response.status, problem.code, problem.head], [400, 'cursor-ahead', HEAD])
    assert.equal((await page(`?after=${HEAD}`)).page.hasMore, false)
  })

  test('as CSV has the fields of `page` as headers', async () => {
    const response = await stage.get('/api/v1/events?format=csv&limit=4')
    const text = await response.text()
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
    assert.equal(response.headers.get('daybook-scanned-to'), '4')
    assert.equal(response.headers.get('daybook-has-more'), 'true')
    assert.equal(response.headers.get('link'), '</api/v1/events?after=4&limit=4&format=csv>; rel="next"')
    assert.equal(
      response.headers.get('content-disposition'),
      'attachment; filename="daybook-events-1-4-part.csv"',
    )
    const rows = text.split('\r\n')
    assert.equal(rows[0], 'seq,type,kind,at,atMs,contestId,kots,tx')
    assert.equal(rows[1], `1,treasury,deposit,2026-10-01T00:00:00.000Z,${LAUNCH},,1000.000000000,`)
    assert.equal(rows[2], `2,contest,scheduled,2026-10-01T00:01:00.000Z,${LAUNCH + MINUTE_MS},1,,`)
    assert.deepEqual([rows.length, rows[5]], [6, ''])
  })

  test('that never changes has an ETag of its bytes; another has one that is known before computing', async () => {
    const first = await page('?limit=2')
    const again = await stage.get('/api/v1/events?limit=2', {
      'If-None-Match': first.headers.get('etag') ?? '',
    })
    assert.equal(again.status, 304)
    assert.equal(again.headers.has('daybook-seq'), false)
    const tail = await page(`?after=${HEAD - 1}`)
    const tailAgain = await stage.get(`/api/v1/events?after=${HEAD - 1}`, {
      'If-None-Match': `"other", ${tail.headers.get('etag') ?? ''}`,
    })
    assert.equal(tailAgain.status, 304)
  })

  test('that ended at the head is not unchanged when an event without a match has settled it', async () => {
    await using own = await openApiStage()
    own.trade(3)
    const other = (): void => own.append([{ type: 'treasury', kind: 'deposit', kots: '1' }])
    const path = `/api/v1/events?type=trade&after=14&limit=2`
    const full = await own.get(path)
    const { page: open } = (await full.json()) as EventsPage
    assert.deepEqual([open.count, open.hasMore], [2, false])
    const holding = { 'If-None-Match': full.headers.get('etag') ?? '' }
    assert.equal((await own.get(path, holding)).status, 304)
    other()
    const now = await own.get(path, holding)
    assert.equal(now.status, 200)
    const { page: settled } = (await now.json()) as EventsPage
    assert.deepEqual([settled.count, settled.hasMore], [2, true])
    const longer = path.replace('limit=2', 'limit=3')
    const etag = (await own.get(longer)).headers.get('etag') ?? ''
    other()
    assert.equal((await own.get(longer, { 'If-None-Match': etag })).status, 304)
  })
})

test('an event and its details have their own URLs, with the bytes of the log', async () => {
  await using stage = await openApiStage()
  const event = await stage.get('/api/v1/events/8')
  const line = stage.reader.snapshot((snapshot) => snapshot.line(seqOf(8)))
  assert.equal(await event.text(), Buffer.from(line ?? []).toString())
  const details = await stage.get('/api/v1/events/8/details')
  assert.equal(await details.text(), '{"seq":8,"details":{"claim":true}}')
  const none = await stage.get('/api/v1/events/1/details')
  assert.equal(await none.text(), '{"seq":1,"details":null}')
})

test('an event is served as soon as it is committed', async () => {
  await using stage = await openApiStage()
  assert.equal((await stage.get('/api/v1/events/14')).status, 404)
  stage.trade(1)
  assert.equal((await stage.get('/api/v1/events/14')).status, 200)
})
