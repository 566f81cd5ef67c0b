import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type ApiStage, openApiStage } from '../../../test/stage/api-stage.ts'
import { LAUNCH } from '../../../test/story/api-story.ts'
import { DAY_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { keysOf } from '../../protocol/brand.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import { PROBLEM_CURES } from '../describe/problem-cures.ts'
import { eventTypesSchema } from '../../protocol/endpoints/description-endpoints.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATE = 'public, max-age=0, must-revalidate'

suite('the API', () => {
  let stage: ApiStage
  before(async () => {
    stage = await openApiStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  const settledFlows = '/api/v1/flows?from=2026-10-01T00:00Z&to=2026-10-01T00:05Z&bucket=minute'
  const addresses: readonly (readonly [path: string, answer: string, cacheControl: string])[] = [
    ['/api/v1/summary', 'Summary', REVALIDATE],
    [`/api/v1/summary?at=${LAUNCH}`, 'Summary', IMMUTABLE],
    ['/api/v1/summary?at=0', 'Summary', IMMUTABLE],
    ['/api/v1/summary?at=2026-10-02', 'Summary', REVALIDATE],
    ['/api/v1/contests', 'Contests', REVALIDATE],
    ['/api/v1/contests?status=closed&limit=1', 'Contests', REVALIDATE],
    ['/api/v1/contests/1', 'Contest', REVALIDATE],
    ['/api/v1/contests/1/ledger', 'ContestLedger', REVALIDATE],
    ['/api/v1/schedule', 'Schedule', REVALIDATE],
    ['/api/v1/payouts', 'Payouts', REVALIDATE],
    ['/api/v1/payouts?contestId=7', 'Payouts', REVALIDATE],
    ['/api/v1/flows', 'Flows', REVALIDATE],
    [settledFlows, 'Flows', IMMUTABLE],
    ['/api/v1/flows?to=2026-10-02', 'Flows', REVALIDATE],
    ['/api/v1/funds?bucket=week', 'Funds', REVALIDATE],
    ['/api/v1/funds?to=2026-10-01T00:05Z&bucket=minute', 'Funds', REVALIDATE],
    ['/api/v1/loyalty/runs', 'LoyaltyRuns', REVALIDATE],
    ['/api/v1/events', 'EventsPage', REVALIDATE],
    ['/api/v1/events?limit=3', 'EventsPage', IMMUTABLE],
    ['/api/v1/events/2', 'Event', IMMUTABLE],
    ['/api/v1/events/2/details', 'EventDetails', IMMUTABLE],
    ['/api/v1/events/1/details', 'EventDetails', IMMUTABLE],
    ['/api/v1/events/1/corrections', 'EventCorrections', REVALIDATE],
    ['/api/v1/patterns?tz=120', 'Patterns', REVALIDATE],
    ['/api/v1/patterns?from=2026-09-30&to=2026-10-01T00:05Z', 'Patterns', IMMUTABLE],
    ['/api/v1/event-types', 'EventTypes', REVALIDATE],
    ['/api/v1/status', 'Status', REVALIDATE],
  ]
  for (const [path, answer, cacheControl] of addresses) {
    test(`${path} answers a ${answer} with Cache-Control ${cacheControl}`, async () => {
      const response = await stage.get(path)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(response.headers.get('cache-control'), cacheControl)
      assert.equal(response.headers.get('daybook-log'), stage.reader.identity.id)
      assert.equal(response.headers.get('daybook-simulated'), '1')
      const body: unknown = await response.json()
      const read = ENDPOINTS.find((one) => one.answer === answer)?.schema?.safeParse(body)
      assert.ok(read?.success === true, JSON.stringify(read?.error?.issues))
      assert.equal(response.headers.has('ratelimit'), false)
      const { asOf } = body as { asOf?: { seq: number } }
      if (asOf !== undefined) assert.equal(response.headers.get('daybook-seq'), String(asOf.seq))

      const again = await stage.get(path, { 'If-None-Match': response.headers.get('etag') ?? '' })
      assert.equal(again.status, 304)
      assert.equal(again.headers.get('etag'), response.headers.get('etag'))
      assert.equal(again.headers.get('cache-control'), cacheControl)
      assert.equal(again.headers.get('access-control-allow-origin'), '*')
      assert.equal(again.headers.get('daybook-seq'), response.headers.get('daybook-seq'))
    })
  }

  test('answers every endpoint of the table except for the stream and the archive', async () => {
    for (const { id, path } of ENDPOINTS) {
      if (/^(?:stream|archive|log)/.test(id)) continue
      const response = await stage.get(path.replace('{type}', 'payout').replace(/\{\w+\}/, '1'))
      assert.equal(response.status, 200, path)
      await response.arrayBuffer()
    }
  })

  test('sends only headers that the OpenAPI document describes', async () => {
    const own = /^(?:daybook-|etag$|link$|ratelimit|content-disposition$)/
    const document: unknown = await (await stage.get('/api/v1/openapi.json')).json()
    const { paths } = document as {
      paths: Record<string, { get: { responses: { 200: { headers: object } } } }>
    }
    const questions = ['/api/v1/events?limit=2', '/api/v1/events?format=csv&limit=2']
    for (const question of [...addresses.map(([path]) => path), ...questions]) {
      const response = await stage.get(question)
      await response.arrayBuffer()
      const key = ENDPOINTS.find(({ path }) =>
        new RegExp(`^${path.replace(/\{\w+\}/, '[^/]+')}$`).test(question.replace(/\?.*/, '')),
      )?.path
      const described = Object.keys(paths[key ?? '']?.get.responses[200].headers ?? {})
      const sent = [...response.headers.keys()].filter((name) => own.test(name))
      const known = new Set(described.map((name) => name.toLowerCase()))
      assert.deepEqual(
        sent.filter((name) => !known.has(name)),
        [],
        question,
      )
    }
  })

  const refused: readonly (readonly [path: string, status: number, code: string])[] = [
    ['/api/v1/summary?at=2027-01-01', 400, 'in-the-future'],
    ['/api/v1/summary?cb=1', 400, 'unknown-parameter'],
    ['/api/v1/contests?status=toString', 400, 'invalid-parameter'],
    ['/api/v1/contests?after=99', 400, 'invalid-parameter'],
    ['/api/v1/contests/99', 404, 'contest-not-found'],
    ['/api/v1/contests/0', 404, 'contest-not-found'],
    ['/api/v1/contests/x', 404, 'contest-not-found'],
    ['/api/v1/contests/99/ledger', 404, 'contest-not-found'],
    ['/api/v1/flows?from=2026-10-01&to=2026-10-01', 400, 'invalid-range'],
    ['/api/v1/flows?to=2027-01-01', 400, 'in-the-future'],
    ['/api/v1/flows?from=2020-01-01&to=2026-10-01&bucket=minute', 400, 'too-many-buckets'],
    ['/api/v1/patterns?from=2020-01-01&to=2026-10-01', 400, 'range-too-long'],
    ['/api/v1/events?after=14', 400, 'cursor-ahead'],
    ['/api/v1/events?before=3', 400, 'invalid-parameter'],
    ['/api/v1/events?from=2026-10-02&to=2026-10-01', 400, 'invalid-range'],
    ['/api/v1/events/0', 404, 'event-not-found'],
    ['/api/v1/events/99', 404, 'event-not-found'],
    ['/api/v1/events/99/details', 404, 'event-not-found'],
    ['/api/v1/events/0/corrections', 404, 'event-not-found'],
    ['/api/v1/events/99/corrections', 404, 'event-not-found'],
    ['/api/v1/nothing', 404, 'not-found'],
  ]
  for (const [path, status, code] of refused) {
    test(`${path} is refused with ${status} ${code}, uncached`, async () => {
      // A problem is sent even when `If-None-Match` is the ETag of another answer.
      const otherEtag = (await stage.get('/api/v1/summary')).headers.get('etag') ?? ''
      assert.equal((await stage.get(path, { 'If-None-Match': otherEtag })).status, status)
      const response = await stage.get(path, { 'If-None-Match': '*' })
      const problem = (await response.json()) as Record<string, unknown>
      assert.equal(response.status, status)
      assert.equal(problem['code'], code)
      assert.equal(problem['type'], `/api/problems/${code}`)
      assert.equal(problem['status'], status)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.equal(response.headers.get('access-control-allow-origin'), '*')
    })
  }

  test('names the newest event for a seq after it, and the form of a seq for any other text', async () => {
    const form = '`seq` must be a whole number from 1.'
    const details: readonly (readonly [path: string, detail: string])[] = [
      ['/api/v1/events/99', 'The newest event is 13.'],
      ['/api/v1/events/99/details', 'The newest event is 13.'],
      ['/api/v1/events/99/corrections', 'The newest event is 13.'],
      ['/api/v1/log/proof/99', 'The newest event is 13.'],
      ['/api/v1/events/9999999999999999999', 'The newest event is 13.'],
      ['/api/v1/events/abc', form],
      ['/api/v1/events/1.5', form],
      ['/api/v1/events/0/corrections', form],
      ['/api/v1/log/proof/0', form],
    ]
    for (const [path, detail] of details)
      assert.equal(((await (await stage.get(path)).json()) as { detail: string }).detail, detail, path)
  })

  test('explains a problem at the URL of its type', async () => {
    const response = await stage.get('/api/problems/cursor-ahead')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('vary'), 'Accept, Accept-Encoding')
    assert.deepEqual(await response.json(), {
      code: 'cursor-ahead',
      ...PROBLEMS['cursor-ahead'],
      ...PROBLEM_CURES['cursor-ahead'],
    })
    for (const [accept, to] of [
      ['text/html,*/*;q=0.8', '/errors#cursor-ahead'],
      ['*/*', null],
      ['text/html;q=0.4, application/json', null],
      ['text/html;q=0, */*', null],
      ['application/xhtml+xml', null],
    ] as const) {
      const url = `http://127.0.0.1:${stage.port}/api/problems/cursor-ahead`
      const led = await fetch(url, { headers: { Accept: accept }, redirect: 'manual' })
      assert.deepEqual([accept, led.headers.get('location')], [accept, to])
    }
  })

  test('leads a browser from the URL of a type to the same problem on the page of errors', async () => {
    const headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    const page = await (await stage.get('/errors')).text()
    for (const code of keysOf(PROBLEMS)) {
      const response = await fetch(`http://127.0.0.1:${stage.port}/api/problems/${code}`, {
        headers,
        redirect: 'manual',
      })
      assert.equal(response.status, 303)
      assert.equal(response.headers.get('location'), `/errors#${code}`)
      assert.ok(page.includes(`<dt id="${code}">`), code)
    }
    assert.equal((await stage.get('/api/problems/nothing', headers)).status, 404)
  })

  test('answers HEAD with the headers of GET and no body', async () => {
    for (const path of ['/api/v1/summary', '/api/v1/events?limit=3', '/api/v1/nothing']) {
      const got = await stage.get(path)
      const head = await stage.get(path, {}, 'HEAD')
      assert.equal(head.status, got.status)
      for (const name of ['etag', 'content-type', 'cache-control', 'content-length', 'vary', 'link']) {
        assert.equal(head.headers.get(name), got.headers.get(name), `${path} ${name}`)
      }
      assert.equal(await head.text(), '')
    }
  })

  test('compresses long answers and gives them a weak ETag', async () => {
    for (const coding of ['gzip', 'br', 'zstd']) {
      const response = await stage.get('/api/v1/event-types', { 'Accept-Encoding': coding })
      assert.equal(response.headers.get('content-encoding'), coding)
      assert.equal(response.headers.get('vary'), 'Accept-Encoding')
      assert.match(response.headers.get('etag') ?? '', /^W\//)
      assert.ok(eventTypesSchema.safeParse(await response.json()).success)
    }
    const plain = await stage.get('/api/v1/event-types', { 'Accept-Encoding': 'identity' })
    assert.equal(plain.headers.has('content-encoding'), false)
    await plain.arrayBuffer()
  })

  test('shows the schedule as a calendar', async () => {
    const response = await stage.get('/api/v1/schedule.ics')
    assert.equal(response.headers.get('content-type'), 'text/calendar; charset=utf-8')
    const feed = await response.text()
    assert.match(feed, /^BEGIN:VCALENDAR\r\n/)
    assert.match(feed, /\r\nEND:VCALENDAR\r\n$/)
    assert.match(feed, /UID:contest-2-opens@daybook\.test\/api\r\n/)
    assert.match(feed, /UID:loyalty-2026-09@daybook\.test\/api\r\n/)
  })

  test('answers 503 with the reason while the node is not ready', async () => {
    stage.setUnready({ code: 'not-ready', detail: 'The log is being checked.', retryAfterSeconds: 5 })
    const response = await stage.get('/api/v1/summary')
    stage.setUnready(undefined)
    assert.equal(response.status, 503)
    assert.equal(response.headers.get('retry-after'), '5')
    await response.arrayBuffer()
  })
})

suite('an answer that depends on the present', () => {
  test('changes its ETag with the minute, and not within it', async () => {
    await using stage = await openApiStage()
    const etagOf = async (path: string) => (await stage.get(path)).headers.get('etag')
    const paths = ['/api/v1/payouts', '/api/v1/status', '/api/v1/flows', '/api/v1/patterns', '/api/v1/funds']
    const noon = LAUNCH + 2 * DAY_MS
    for (const path of paths) {
      stage.setNow(msOf(noon))
      const first = await etagOf(path)
      stage.setNow(msOf(noon + MINUTE_MS - 1))
      assert.equal(await etagOf(path), first, path)
      stage.setNow(msOf(noon + MINUTE_MS))
      assert.notEqual(await etagOf(path), first, path)
    }
    stage.setNow(msOf(noon))
    const summary = await etagOf('/api/v1/summary')
    stage.setNow(msOf(noon + MINUTE_MS))
    assert.equal(await etagOf('/api/v1/summary'), summary)
  })

  test('changes its ETag with the head', async () => {
    await using stage = await openApiStage()
    const first = await stage.get('/api/v1/summary')
    stage.trade(1)
    const second = await stage.get('/api/v1/summary', { 'If-None-Match': first.headers.get('etag') ?? '' })
    assert.equal(second.status, 200)
    assert.equal(second.headers.get('daybook-seq'), '14')
  })
})
