import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { until } from '../../test/stage/stream-client.ts'
import { openVirtualClock } from '../../test/stage/virtual-clock.ts'
import { DaybookError } from './daybook-error.ts'
import { type Daybook, type Events, openDaybook } from './daybook.ts'

const eventOf = (seq: number): object => ({
  seq,
  type: 'play',
  kind: 'vote',
  contestId: 1,
  kots: '1.000000000',
})

type Answer = Readonly<{ body: string | Uint8Array<ArrayBuffer>; log?: string; type?: string }>

/** A client of a service that gives these answers to each path in turn. */
function clientOf(
  answers: Readonly<Record<string, readonly Answer[]>>,
): Readonly<{ daybook: Daybook; asked: string[] }> {
  const asked: string[] = []
  const daybook = openDaybook({
    base: 'https://daybook.test',
    ...openVirtualClock(),
    random: () => 0.5,
    fetch: async (url) => {
      const path = url.slice('https://daybook.test/api/v1'.length)
      const times = asked.filter((one) => one === path).length
      asked.push(path)
      const answer = answers[path]?.[times]
      assert.ok(answer !== undefined, `${path} is asked for the time ${times + 1}`)
      const headers = { 'daybook-log': answer.log ?? 'a', 'content-type': answer.type ?? 'application/json' }
      return new Response(answer.body, { headers })
    },
  })
  return { daybook, asked }
}

const page = (
  seqs: readonly number[],
  next: string | null,
  scannedTo = seqs.at(-1) ?? 0,
  log = 'a',
): Answer => ({
  log,
  body: JSON.stringify({ events: seqs.map(eventOf), page: { scannedTo, hasMore: next !== null, next } }),
})

const seqsOf = async (events: Events): Promise<number[]> =>
  (await Array.fromAsync(events)).map(({ seq }) => seq)

suite('the events of the log', () => {
  test('come page after page to the end, along the `next` of each page', async () => {
    const { daybook, asked } = clientOf({
      '/events?limit=2': [page([1, 2], '/api/v1/events?after=2&limit=2')],
      '/events?after=2&limit=2': [page([3], '/api/v1/events?after=3&limit=2')],
      '/events?after=3&limit=2': [page([], null, 3)],
    })
    assert.deepEqual(await seqsOf(daybook.events({ limit: 2 })), [1, 2, 3])
    assert.equal(asked.length, 3)
  })

  test('are requested with the filter in the query', async () => {
    const path = '/events?limit=10000&type=play%2Cburn&nonzero=1&from=2026-10-01T00%3A00%3A00.000Z'
    const { daybook } = clientOf({ [path]: [page([4, 9], null, 20)] })
    const from = new Date('2026-10-01T00:00:00Z')
    assert.deepEqual(await seqsOf(daybook.events({ type: ['play', 'burn'], nonzero: true, from })), [4, 9])
  })

  for (const [name, seqs, scannedTo] of [
    ['in the middle of a page', [1, 3], 3],
    ['at its beginning', [2, 3], 3],
    ['at its end', [1, 2], 3],
  ] as const) {
    test(`end with a gap when one is missing ${name}`, async () => {
      const { daybook } = clientOf({ '/events?limit=10000': [page(seqs, null, scannedTo)] })
      await assert.rejects(seqsOf(daybook.events()), { code: 'gap' })
    })
  }

  test('may skip seqs when they are filtered', async () => {
    const { daybook } = clientOf({ '/events?limit=10000&kind=vote': [page([2, 5], null, 9)] })
    assert.deepEqual(await seqsOf(daybook.events({ kind: 'vote' })), [2, 5])
    const ofTx = clientOf({ '/events?limit=10000&tx=paid%3A0001': [page([3, 8], null, 9)] })
    assert.deepEqual(await seqsOf(ofTx.daybook.events({ tx: 'paid:0001' })), [3, 8])
  })

  test('come backwards with order=desc', async () => {
    const { daybook } = clientOf({
      '/events?limit=2&order=desc': [page([9, 8], '/api/v1/events?before=8')],
      '/events?before=8': [page([7], null)],
    })
    assert.deepEqual(await seqsOf(daybook.events({ limit: 2, order: 'desc' })), [9, 8, 7])
  })

  for (const [name, next] of [
    ['repeats', '/api/v1/events?after=0'],
    ['leads to a page that leads back', '/api/v1/events?after=1'],
    ['leads to another origin', 'https://other.test/api/v1/events'],
  ] as const) {
    test(`end with an error at a page that ${name}`, async () => {
      const { daybook } = clientOf({
        '/events?limit=10000': [page([1], next)],
        '/events?after=0': [page([1], null)],
        '/events?after=1': [page([], '/api/v1/events?after=0', 1)],
      })
      await assert.rejects(seqsOf(daybook.events()), { code: 'unexpected-answer' })
    })
  }

  for (const body of [
    'null',
    '[]',
    '{"error":"busy"}',
    '{"events":[null],"page":{"scannedTo":1,"hasMore":false,"next":null}}',
    '{"events":[],"page":{"scannedTo":1,"hasMore":true,"next":"//["}}',
    '{"events":[],"page":{"scannedTo":1,"hasMore":true,"next":7}}',
  ]) {
    test(`end with an error of the client at the answer ${body}`, async () => {
      const { daybook } = clientOf({ '/events?limit=10000&kind=vote': [{ body }] })
      await assert.rejects(seqsOf(daybook.events({ kind: 'vote' })), (error) => {
        assert.ok(error instanceof DaybookError)
        return error.code === 'unexpected-answer'
      })
    })
  }

  test('end with an error when the service changes its log', async () => {
    const { daybook } = clientOf({
      '/events?limit=10000': [page([1], '/api/v1/events?after=1')],
      '/events?after=1': [page([2], null, 2, 'b')],
    })
    await assert.rejects(seqsOf(daybook.events()), { code: 'another-log' })
  })
})

const file = (...seqs: readonly number[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(gzipSync(seqs.map((seq) => `${JSON.stringify(eventOf(seq))}\n`).join('')))

/** Longest time from the end of a loop until its connections are closed. */
const CLOSED_MS_MAX = 30_000

suite('the events of a month', () => {
  const path = '/archive/2026-09.jsonl.gz'
  const detailsPath = '/archive/2026-09.details.jsonl.gz'
  const type = 'application/gzip'

  test('come from its file', async () => {
    const { daybook } = clientOf({ [path]: [{ body: file(4, 5, 6), type }] })
    assert.deepEqual(await seqsOf(daybook.month('2026-09')), [4, 5, 6])
  })

  test('are none in an empty file', async () => {
    assert.deepEqual(
      await seqsOf(clientOf({ [path]: [{ body: file(), type }] }).daybook.month('2026-09')),
      [],
    )
  })

  test('come once each when the file breaks off and is opened again', async () => {
    const whole = file(...Array.from({ length: 50_000 }, (_, index) => index + 1))
    const parts = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((part) => ({
      body: whole.slice(0, whole.length * part),
      type,
    }))
    const { daybook, asked } = clientOf({ [path]: [...parts, { body: whole, type }] })
    assert.deepEqual(
      await seqsOf(daybook.month('2026-09', { after: 10 })),
      Array.from({ length: 49_990 }, (_, index) => index + 11),
    )
    assert.equal(asked.length, 9)
  })

  test('end with a gap when one is missing', async () => {
    const { daybook } = clientOf({ [path]: [{ body: file(4, 6), type }] })
    await assert.rejects(seqsOf(daybook.month('2026-09')), { code: 'gap' })
  })

  for (const [name, silent, other] of [
    ['their file open when that of the details cannot be opened', path, new Response('{}', { status: 503 })],
    ['the file of their details open when their own is damaged', detailsPath, new Response('no gzip')],
  ] as const) {
    test(`do not leave ${name}`, async () => {
      const connections: AbortSignal[] = []
      const daybook = openDaybook({
        base: 'https://daybook.test',
        random: () => 0,
        // Retries come at once, and no silence is too long: it would close the connection too.
        sleep: (ms) => (ms === 0 ? Promise.resolve() : new Promise(() => undefined)),
        fetch: async (url, { signal }) => {
          if (!url.endsWith(silent)) return other.clone()
          assert.ok(signal)
          connections.push(signal)
          // A body that sends nothing and does not end.
          return new Response(new ReadableStream())
        },
      })
      await assert.rejects(Array.fromAsync(daybook.month('2026-09', { details: true })), DaybookError)
      assert.ok(connections.length > 0)
      await until(() => connections.every(({ aborted }) => aborted), CLOSED_MS_MAX)
    })
  }
})

suite('a method of the client', () => {
  test('requests its path with the given value and parameters, and returns the answer', async () => {
    const { daybook } = clientOf({
      '/summary?at=1790000000000': [{ body: '{"entries":3}' }],
      '/contests?status=paying%2Cpaid&limit=5': [{ body: '{"contests":[]}' }],
      '/contests/42/ledger?after=7': [{ body: '{"payouts":[]}' }],
      '/events/9': [{ body: '{"seq":9}' }],
      '/events?order=desc&limit=1': [page([3], null)],
      '/schedule.ics': [{ body: 'BEGIN:VCALENDAR', type: 'text/calendar; charset=utf-8' }],
    })
    assert.equal((await daybook.summary({ at: 1_790_000_000_000 })).entries, 3)
    assert.deepEqual((await daybook.contests({ status: ['paying', 'paid'], limit: 5 })).contests, [])
    assert.deepEqual((await daybook.contestLedger(42, { after: 7 })).payouts, [])
    assert.equal((await daybook.event(9)).seq, 9)
    assert.equal((await daybook.page({ order: 'desc', limit: 1 })).page.scannedTo, 3)
    assert.equal(await daybook.scheduleCalendar(), 'BEGIN:VCALENDAR')
  })
})
