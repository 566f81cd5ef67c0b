import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { RICH_LOGS } from '../../../test/stage/audit-stage.ts'
import { paidLog } from '../../../test/story/paid-log.ts'
import { type Change, publicLog } from '../../../test/story/public-log.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import type { Entry } from '../../protocol/event.ts'
import { DAY_MS, monthOf } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'
import { type ListedMonth, listMonths, type Manifest } from './manifest.ts'
import { firstPosition, monthEntries } from './month-entries.ts'

/** Events of the first month of a log. */
const firstMonth = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ event }) => entries[0] && monthOf(event.atMs) === monthOf(entries[0].event.atMs))
const hasDetails = ({ details }: Entry): boolean => details !== null
/** A varied log whose first month is closed, and has several events with details and some without. */
const RICH_LOG =
  RICH_LOGS.find((entries) => {
    const first = firstMonth(entries)
    const detailed = first.filter(hasDetails).length
    return first.length < entries.length && detailed > 1 && detailed < first.length
  }) ?? []
const log = publicLog(RICH_LOG)
const [listed] = await listMonths(log.source())
assert.ok(listed?.manifest)
const { month, manifest } = listed
const [LAST = month] = RICH_LOG.slice(-1).map(({ event }) => monthOf(event.atMs))
const own = firstMonth(RICH_LOG)
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
const lines =
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
      lines(DETAILS, ([a = '', b = '', ...rest]) => [b, a, ...rest]),
      OPEN,
    ],
    [
      'it has the same details twice',
      /the details of seq \d+: are out of order$/,
      lines(DETAILS, ([a = '', ...rest]) => [a, a, ...rest]),
      OPEN,
    ],
    [
      'it has details of an event before it',
      /the details of seq 0: belong to no event of this month$|are out of order$/,
      lines(DETAILS, ([a = '', ...rest]) => [a.replace(/"seq":\d+/, '"seq":0'), ...rest]),
      OPEN,
    ],
    [
      'it has an event of another month',
      new RegExp(`is not of ${month}$`),
      (path, body) => (path === EVENTS ? log.body(EVENTS.replace(month, LAST)) : body),
      OPEN,
      RICH_LOG.findIndex(({ event }) => monthOf(event.atMs) === LAST) + 1,
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
      const longer = lines(file, (all) => [
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
