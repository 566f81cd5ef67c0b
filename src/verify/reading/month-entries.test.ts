import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { RICH_LOG, RICH_LOGS } from '../../../test/stage/audit-stage.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import { type Change, publicLog, type PublicLog } from '../../../test/story/public-log.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import type { Entry } from '../../protocol/event.ts'
import { DAY_MS, monthOf } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'
import { type ListedMonth, listMonths, type Manifest } from './manifest.ts'
import { entriesOf, firstPosition, monthEntries, unpacked, unpackedLines } from './month-entries.ts'
import * as fc from 'fast-check'

/** Events of the first month of a log. */
const firstMonth = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ event }) => entries[0] && monthOf(event.atMs) === monthOf(entries[0].event.atMs))
const hasDetails = ({ details }: Entry): boolean => details !== null
/** A varied log whose first month is closed, and has several events with details and some without. */
const DETAILED_LOG =
  RICH_LOGS.find((entries) => {
    const first = firstMonth(entries)
    const detailed = first.filter(hasDetails).length
    return first.length < entries.length && detailed > 1 && detailed < first.length
  }) ?? []
const log = publicLog(DETAILED_LOG)
const [listed] = await listMonths(log.source())
assert.ok(listed?.manifest)
const { month, manifest } = listed
const [LAST = month] = DETAILED_LOG.slice(-1).map(({ event }) => monthOf(event.atMs))
const own = firstMonth(DETAILED_LOG)
const withDetails = own.filter(hasDetails)
const EVENTS = `archive/${month}.jsonl.gz`
const DETAILS = `archive/${month}.details.jsonl.gz`

/** Reads the first month, from this seq, as the source serves it. */
async function read(
  change: Change = (_, body) => body,
  one: ListedMonth = { month, closed: true, manifest },
  seq = 1,
  from = log,
): Promise<Readonly<{ entries: readonly Entry[]; next: number }>> {
  const place = firstPosition()
  place.next = { ...place.next, seq: seqOf(seq) }
  const entries: Entry[] = []
  for await (const some of monthEntries(from.source(change), one, place, NODE_PRIMITIVES, 0))
    entries.push(...some.map(({ entry }) => entry))
  return { entries, next: place.next.seq }
}

const OPEN: ListedMonth = { month, closed: false, manifest: null }
const changed = (more: Partial<Manifest>): ListedMonth => ({
  month,
  closed: true,
  manifest: { ...manifest, ...more },
})

/** The service with other lines in one file. */
const otherLines =
  (file: string, edit: (all: readonly string[]) => readonly string[]): Change =>
  (path, body) => {
    if (path !== file) return body
    const all = gunzipSync(body ?? new Uint8Array(0))
      .toString()
      .split('\n')
      .slice(0, -1)
    return gzipSync(
      edit(all)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }

suite('the entries of a month', () => {
  test('are read from its two files, closed or open', async () => {
    assert.ok(withDetails.length > 1 && withDetails.length < own.length)
    for (const one of [undefined, OPEN]) {
      const { entries, next } = await read(undefined, one)
      assert.deepEqual([entries, next], [own, own.length + 1])
    }
  })

  const refused: readonly (readonly [what: string, says: RegExp, ...Parameters<typeof read>])[] = [
    [
      'its events are missing',
      /jsonl\.gz: is missing$/,
      (path, body) => (path === EVENTS ? undefined : body),
    ],
    ['its details are missing', /is missing$/, (path, body) => (path === DETAILS ? undefined : body)],
    ['it begins before the next seq', /firstSeq is not 2, the next seq$/, undefined, listed, 2],
    [
      'its manifest begins after the next seq',
      /firstSeq is not 1, the next seq$/,
      undefined,
      changed({ firstSeq: 2 }),
    ],
    [
      'its manifest counts more events',
      new RegExp(`has ${own.length} events, and its manifest has another number$`),
      undefined,
      changed({ events: own.length + 1 }),
    ],
    [
      'its manifest has another size of the file',
      /its size is not that of its manifest$/,
      undefined,
      changed({ gzip: { ...manifest.gzip, bytes: manifest.gzip.bytes + 1 } }),
    ],
    [
      'its manifest has another digest of the file',
      /its SHA-256 is not that of its manifest$/,
      undefined,
      changed({ gzip: { ...manifest.gzip, sha256: '0'.repeat(64) } }),
    ],
    [
      'its manifest has another size of the lines',
      /the SHA-256 of its lines is not that of its manifest$/,
      undefined,
      changed({ lines: { ...manifest.lines, bytes: manifest.lines.bytes + 1 } }),
    ],
    [
      'its manifest has another digest of the lines',
      /the SHA-256 of its lines is not that of its manifest$/,
      undefined,
      changed({ lines: { ...manifest.lines, sha256: '0'.repeat(64) } }),
    ],
    [
      'its details are out of order',
      /the details of seq \d+: (?:are out of order|belong to no event of this month)$/,
      otherLines(DETAILS, ([a = '', b = '', ...rest]) => [b, a, ...rest]),
      OPEN,
    ],
    [
      'it has the same details twice',
      /the details of seq \d+: are out of order$/,
      otherLines(DETAILS, ([a = '', ...rest]) => [a, a, ...rest]),
      OPEN,
    ],
    [
      'it has details of an event before it',
      /the details of seq 0: belong to no event of this month$|are out of order$/,
      otherLines(DETAILS, ([a = '', ...rest]) => [a.replace(/"seq":\d+/, '"seq":0'), ...rest]),
      OPEN,
    ],
    [
      'it has an event of another month',
      new RegExp(`is not of ${month}$`),
      (path, body) => (path === EVENTS ? log.body(EVENTS.replace(month, LAST)) : body),
      OPEN,
      DETAILED_LOG.findIndex(({ event }) => monthOf(event.atMs) === LAST) + 1,
    ],
  ]
  for (const [what, says, ...given] of refused)
    test(`are refused when ${what}`, async () => assert.rejects(read(...given), says))

  test('may have details of later events while the month is open, and not when it is closed', async () => {
    const [scheduled, , , , , , deposit] = paidLog([], 70 * DAY_MS)
    assert.ok(scheduled && deposit)
    const later = { ...deposit, event: { ...deposit.event, seq: seqOf(2) } }
    // The last event of the first month has details in the second log.
    for (const from of [log, publicLog([scheduled, later])]) {
      const [first] = await listMonths(from.source())
      assert.ok(first?.manifest)
      const { events, size } = first.manifest
      const file = `archive/${first.month}.details.jsonl.gz`
      const longer = otherLines(file, (all) => [
        ...all,
        (all.at(-1) ?? '').replace(/"seq":\d+/, `"seq":${size + 1}`),
      ])
      const body = Buffer.from(longer(file, from.body(file)) ?? [])
      const details = { ...digestOf(body), lines: digestOf(gunzipSync(body)) }
      const open = await read(longer, { ...first, closed: false, manifest: null }, 1, from)
      assert.equal(open.entries.length, events)
      await assert.rejects(
        read(longer, { ...first, manifest: { ...first.manifest, details } }, 1, from),
        new RegExp(`has details of an event that is not in ${first.month}$`),
      )
    }
  })
})

const digestOf = (bytes: Uint8Array): Digest => ({
  bytes: bytes.length,
  sha256: Buffer.from(NODE_PRIMITIVES.sha256(bytes)).toString('hex'),
})

async function linesIn(file: Uint8Array): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const some of unpackedLines('a file', unpacked('a file', file))) lines.push(...some)
  return lines
}

suite('the lines of a gzip file', () => {
  test('are those that were packed, in pieces of any size', async () => {
    const lines = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')))
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 400 }), async (some, times) => {
        const all = Array.from({ length: times }, () => some).flat()
        const file = gzipSync(all.map((line) => `${line}\n`).join(''))
        assert.deepEqual(await linesIn(file), all)
      }),
      { numRuns: 30 },
    )
  })

  const good = gzipSync('a line\n')
  const table: readonly (readonly [what: string, file: Uint8Array, says: RegExp])[] = [
    ['no gzip file', Buffer.from('a line\n'), /is not a complete gzip file/],
    ['an empty file', new Uint8Array(0), /is not a complete gzip file/],
    ['one that is cut off', good.subarray(0, -1), /is not a complete gzip file/],
    ['one with bytes behind it', Buffer.concat([good, Buffer.from('x')]), /is not a complete gzip file/],
    [
      'one whose checksum is wrong',
      good.with(good.length - 6, (good.at(-6) ?? 0) ^ 1),
      /is not a complete gzip file/,
    ],
    ['one whose last line does not end', gzipSync('a line'), /a last line without a line feed/],
    ['one that is not UTF-8', gzipSync(Uint8Array.of(0xff, 10)), /is not UTF-8/],
    ['one that ends within a character', gzipSync(Uint8Array.of(0xe2, 0x82)), /is not UTF-8/],
    ['a line without an end', gzipSync(Buffer.alloc(4_000_000, 'x')), /a line that is too long/],
  ]
  for (const [what, file, says] of table) {
    test(`are not read from ${what}`, async () => assert.rejects(linesIn(file), says))
  }
})

const varied = publicLog(RICH_LOG)

/** Reads the first `size` entries of a log; without its months, one by one. */
async function entriesUpTo(
  { source }: PublicLog,
  size: number,
  { change, lacksMonths = false }: Readonly<{ change?: Change; lacksMonths?: boolean }> = {},
): Promise<readonly Entry[]> {
  const from = source(change)
  const months = lacksMonths ? [] : await listMonths(from)
  const entries: Entry[] = []
  for await (const some of entriesOf(from, months, size, NODE_PRIMITIVES))
    entries.push(...some.map(({ entry }) => entry))
  return entries
}

suite('the entries of a log', () => {
  test('are read up to a size, from its months or one by one', async () => {
    for (const size of [0, 1, 20, RICH_LOG.length - 1, RICH_LOG.length])
      for (const lacksMonths of [false, true])
        assert.deepEqual(
          await entriesUpTo(varied, size, { lacksMonths }),
          RICH_LOG.slice(0, size),
          `${size} entries`,
        )
  })

  test('are read one by one up to 200', async () => {
    const payments = Array.from({ length: 194 }, (_, index) => ({ tx: `tx-${index}`, tokens: 1 }))
    const entries = paidLog(payments)
    const long = publicLog(entries)
    assert.equal(entries.length, 201)
    assert.equal((await entriesUpTo(long, 200, { lacksMonths: true })).length, 200)
    await assert.rejects(
      entriesUpTo(long, 201, { lacksMonths: true }),
      /seq 1: and later ones are missing: the archive ends before/,
    )
  })

  test('are read with the files of an empty month right after them', async () => {
    const entries = paidLog([{ tx: 'a-transaction', tokens: 1 }], 70 * DAY_MS)
    const sparse = publicLog(entries)
    const size = entries.length - 1
    assert.deepEqual(await entriesUpTo(sparse, size), entries.slice(0, size))
    const cut: Change = (path, body) => (path === 'archive/2026-05.jsonl.gz' ? body?.subarray(1) : body)
    await assert.rejects(
      entriesUpTo(sparse, size, { change: cut }),
      /archive\/2026-05\.jsonl\.gz: its size is not that of its manifest/,
    )
  })

  const at = RICH_LOG.findIndex(({ details }) => details !== null) + 1
  const path = `events/${at}/details`
  const text = Buffer.from(varied.body(path) ?? []).toString()
  const table: readonly (readonly [what: string, change: Change, says: RegExp])[] = [
    [
      'without a page of events',
      (asked, body) => (asked.startsWith('events?') ? undefined : body),
      /seq 1: is missing: the archive ends before the checkpoint does/,
    ],
    [
      'with a page of fewer events',
      (asked, body) => (asked.startsWith('events?') ? varied.body('events?after=0&limit=3') : body),
      /seq 1: or one of the next is missing/,
    ],
    [
      'with details of another event',
      (asked, body) => (asked === path ? Buffer.from(text.replace(`"seq":${at}`, `"seq":${at + 1}`)) : body),
      new RegExp(`${path}: belongs to another event`),
    ],
    [
      'without an answer about details',
      (asked, body) => (asked === path ? undefined : body),
      new RegExp(`${path}: a line is not a seq with its details`),
    ],
  ]
  for (const [what, change, says] of table) {
    test(`are refused one by one ${what}`, async () =>
      assert.rejects(entriesUpTo(varied, RICH_LOG.length, { change, lacksMonths: true }), says))
  }
})
