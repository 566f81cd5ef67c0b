import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openVirtualClock } from '../../test/stage/virtual-clock.ts'
import { type Daybook, openDaybook } from './daybook.ts'
import { ARCHIVE_EVENTS_MIN, type FollowAsked } from './follow.ts'

const HEAD: number = ARCHIVE_EVENTS_MIN + 5_000
/** Last seqs of the months. Events after them are published while the files are read. */
const MONTHS: Readonly<Record<string, number>> = { '2026-07': 0, '2026-08': 20_000, '2026-09': HEAD }
const LAST: number = HEAD + 3

const lineOf = (seq: number): string =>
  JSON.stringify({ seq, type: seq % 2 === 0 ? 'play' : 'payout', kind: 'vote', contestId: null, kots: null })

/** Details of every thousandth event. */
const detailsOf = (seq: number): Readonly<{ count: number }> | null =>
  seq % 1_000 === 0 ? { count: seq } : null

const detailsLines = (after: number, last: number): string[] =>
  Array.from({ length: last - after }, (_, index) => after + index + 1).flatMap((seq) => {
    const details = detailsOf(seq)
    return details === null ? [] : [JSON.stringify({ seq, details })]
  })

const LINES: readonly string[] = Array.from({ length: LAST }, (_, index) => lineOf(index + 1))
const lines = (after: number, last: number): readonly string[] => LINES.slice(after, last)

/** Month files of a correct service, which most tests read. */
const files = new Map<string, Uint8Array<ArrayBuffer>>()

function monthFile(month: string, isDetails: boolean): Uint8Array<ArrayBuffer> {
  const names = Object.keys(MONTHS)
  const after = MONTHS[names[names.indexOf(month) - 1] ?? ''] ?? 0
  const linesOf = isDetails ? detailsLines : lines
  return gzipSync(
    linesOf(after, MONTHS[month] ?? 0)
      .map((line) => `${line}\n`)
      .join(''),
  )
}

type Wrong = Readonly<Record<string, () => Response>>

/** A client of a correct service, apart from the given answers. */
function clientOf(wrong: Wrong = {}): Readonly<{ daybook: Daybook; asked: string[] }> {
  const asked: string[] = []
  const answer = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json', log = 'a'): Response =>
    new Response(body, { headers: { 'content-type': type, 'daybook-log': log } })
  const daybook = openDaybook({
    base: 'https://daybook.test',
    ...openVirtualClock(),
    random: () => 0.5,
    fetch: async (url) => {
      const { pathname, search, searchParams } = new URL(url)
      const path = pathname.slice('/api/v1'.length)
      asked.push(path + search)
      const other = wrong[path]
      if (other !== undefined) return other()
      const [file, month = '', isOfDetails] = /^\/archive\/([\d-]*)(\.details)?\.jsonl\.gz$/.exec(path) ?? []
      if (file !== undefined) {
        const bytes = files.get(file) ?? monthFile(month, isOfDetails !== undefined)
        files.set(file, bytes)
        return answer(bytes, 'application/gzip')
      }
      if (path === '/archive') {
        const months = Object.keys(MONTHS).map((name) => ({
          month: name,
          lastSeq: MONTHS[name] === 0 ? null : MONTHS[name],
        }))
        return answer(JSON.stringify({ months }))
      }
      const after = Number(searchParams.get('after'))
      const isDetailed = searchParams.has('details')
      if (path === '/events') {
        const last = Math.min(LAST - 1, after + Number(searchParams.get('limit')))
        const more = isDetailed ? '&details=1' : ''
        const next = last < LAST - 1 ? `/api/v1/events?after=${last}&limit=10000${more}` : null
        const page = JSON.stringify({ after, scannedTo: last, hasMore: next !== null, next })
        const own = detailsLines(after, last).map((line) => JSON.parse(line))
        const found = Object.fromEntries(own.map(({ seq, details }) => [seq, details]))
        const details = isDetailed ? `,"details":${JSON.stringify(found)}` : ''
        return answer(`{"events":[${lines(after, last).join(',')}]${details},"page":${page}}`)
      }
      assert.equal(path, '/stream')
      const frames = lines(after, LAST).map((line, index) => {
        const [own] = isDetailed ? detailsLines(after + index, after + index + 1) : []
        return `${own === undefined ? '' : `event: details\ndata: ${own}\n\n`}data: ${line}\n\n`
      })
      return answer(frames.join(''), 'text/event-stream')
    },
  })
  return { daybook, asked }
}

/** Stream that begins with an event, whatever it is asked for. */
const streamFrom = (seq: number): Response =>
  new Response(`data: ${lineOf(seq)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })

async function followed(daybook: Daybook, asked: FollowAsked): Promise<string[]> {
  const seen: string[] = []
  for await (const event of daybook.follow(asked)) {
    seen.push(JSON.stringify(event))
    if (event.seq === LAST) break
  }
  return seen
}

suite('following a log', () => {
  test('reads the month files, then pages, then the stream, in one loop', async () => {
    const { daybook, asked } = clientOf()
    assert.deepEqual(await followed(daybook, {}), lines(0, LAST))
    assert.deepEqual(asked, [
      '/archive',
      '/archive/2026-08.jsonl.gz',
      '/archive/2026-09.jsonl.gz',
      `/events?limit=10000&after=${HEAD}`,
      `/stream?after=${LAST - 1}`,
    ])
  })

  test('skips files that end before the cursor, and all files near the head', async () => {
    const far = clientOf()
    assert.deepEqual(await followed(far.daybook, { after: 4_999 }), lines(4_999, LAST))
    const near = clientOf()
    assert.deepEqual(await followed(near.daybook, { after: 5_001 }), lines(5_001, LAST))
    assert.ok(!near.asked.some((path) => path.endsWith('.gz')))
  })

  test('filters events from every source', async () => {
    const chosen = await followed(clientOf().daybook, { type: ['payout'] })
    assert.deepEqual(
      chosen,
      lines(0, LAST).filter((line) => line.includes('payout')),
    )
  })

  test('continues with the stream when files or pages fail', async () => {
    const fails = (): Response => new Response('', { status: 500 })
    for (const wrong of [
      { '/archive': fails },
      { '/archive/2026-09.jsonl.gz': fails },
      { '/events': fails },
    ]) {
      assert.deepEqual(await followed(clientOf(wrong).daybook, {}), lines(0, LAST))
    }
  })

  test('continues with the stream, without loss, when a file is absent or skips an event', async () => {
    const absent = (): Response => Response.json({ code: 'not-found' }, { status: 404 })
    const fileOf =
      (...seqs: readonly number[]) =>
      (): Response =>
        new Response(gzipSync(seqs.map((seq) => `${lineOf(seq)}\n`).join('')))
    for (const wrong of [
      { '/archive/2026-09.jsonl.gz': absent },
      { '/archive/2026-08.jsonl.gz': fileOf(1, 3) },
      { '/archive/2026-08.jsonl.gz': fileOf(2) },
      // The file of August ends early, so that of September begins after a gap.
      { '/archive/2026-08.jsonl.gz': fileOf(1, 2) },
    ]) {
      const { daybook, asked } = clientOf(wrong)
      assert.deepEqual(await followed(daybook, {}), lines(0, LAST))
      assert.ok(!asked.some((path) => path.startsWith('/events')))
    }
  })

  test('ends with an error when the log skips an event, or the service changes its log', async () => {
    const short = { events: [], page: { scannedTo: HEAD + 1, hasMore: false, next: null } }
    const missing = { '/events': () => Response.json(short), '/stream': () => streamFrom(HEAD + 2) }
    await assert.rejects(followed(clientOf(missing).daybook, {}), { code: 'gap' })
    const page = { events: [], page: { scannedTo: HEAD, hasMore: false, next: null } }
    const other = (): Response => Response.json(page, { headers: { 'daybook-log': 'b' } })
    await assert.rejects(followed(clientOf({ '/events': other }).daybook, {}), { code: 'another-log' })
  })

  for (const [path, from] of [
    ['/archive', undefined],
    ['/events', '2026-08'],
    ['/status', 'head'],
  ] as const) {
    for (const body of ['null', '{"error":"busy"}', '{"months":[null],"asOf":{},"page":{}}']) {
      test(`ends with an error of the client when ${path} answers ${body}`, async () => {
        const { daybook } = clientOf({ [path]: () => new Response(body) })
        await assert.rejects(followed(daybook, from === undefined ? {} : { from }), {
          name: 'DaybookError',
          code: 'unexpected-answer',
        })
      })
    }
  }

  test('yields each event with its details, from files, pages and the stream', async () => {
    const { daybook, asked } = clientOf()
    let seq = 0
    for await (const { event, details } of daybook.follow({ details: true })) {
      seq += 1
      assert.equal(JSON.stringify(event), lineOf(seq))
      assert.deepEqual(details, detailsOf(seq))
      if (seq === LAST) break
    }
    assert.deepEqual(
      asked.filter((path) => path.includes('details')),
      [
        '/archive/2026-08.details.jsonl.gz',
        '/archive/2026-09.details.jsonl.gz',
        `/events?limit=10000&after=${HEAD}&details=1`,
        `/stream?after=${LAST - 1}&details=1`,
      ],
    )
  })

  test('reads a month again when its file of details ends before the file of events', async () => {
    let isBehind = true
    const own = detailsLines(0, 20_000)
    const behind = (): Response => {
      const file = gzipSync((isBehind ? own.slice(0, 5) : own).map((line) => `${line}\n`).join(''))
      const headers = { 'content-type': 'application/gzip', 'daybook-last-seq': isBehind ? '5000' : '20000' }
      isBehind = false
      return new Response(file, { headers })
    }
    const { daybook } = clientOf({ '/archive/2026-08.details.jsonl.gz': behind })
    const found = await Array.fromAsync(daybook.month('2026-08', { details: true }))
    assert.deepEqual(
      found.map(({ details }) => details),
      found.map(({ event }) => detailsOf(event.seq)),
    )
    assert.equal(found.length, 20_000)
    assert.equal(isBehind, false)
  })
})
