import { type Month, nextMonth, parseMonth } from '../../protocol/moment.ts'
import type { ArchiveMonth, Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { type Hash, isHash } from '../../tlog/hash.ts'
import { parseBase64 } from '../../tlog/note.ts'
import { WrongError } from './finding.ts'
import {
  difference,
  isJsonObject,
  jsonInteger,
  type JsonObject,
  jsonString,
  objectsOf,
  readObject,
} from './json-values.ts'
import type { Source } from './source.ts'

/** Manifest of a closed month, as it was published. */
export type Manifest = Readonly<{
  month: Month
  firstSeq: number | null
  lastSeq: number | null
  events: number
  size: number
  root: Hash
  /** Signed note of the tree at the end of the month. */
  checkpoint: string
  lines: Digest
  gzip: Digest
  details: Digest & Readonly<{ lines: Digest }>
}>

/** Month of the archive. The manifest is null while the month is open, and where a folder lacks it. */
export type ListedMonth = Readonly<{ month: Month; closed: boolean; manifest: Manifest | null }>

/** Most months of an archive: a thousand years. */
const MONTHS_MAX = 12_000

/** Reads the list of months with the first `size` events, in order, with the manifests of the closed ones. */
export async function listMonths(source: Source, size = 0): Promise<readonly ListedMonth[]> {
  const body = await source.read('archive', size)
  const rows =
    body === undefined ? await unlistedRows(source) : objectsOf(readObject('archive', body)['months'])
  if (rows === undefined || rows.length > MONTHS_MAX) throw new WrongError('archive', 'lacks its months')
  const months: ListedMonth[] = []
  for (const row of rows) {
    const month = parseMonth(jsonString(row['month']) ?? '')
    const before = months.at(-1)
    if (month === undefined) throw new WrongError('archive', 'a month is malformed')
    if (before !== undefined && nextMonth(before.month) !== month) {
      throw new WrongError('archive', `${month} does not follow ${before.month}`)
    }
    if (before?.closed === false) throw new WrongError('archive', `${before.month} is open before ${month}`)
    const closed = row['state'] === 'closed'
    const manifest = closed ? await readManifest(source, month, size) : null
    if (manifest !== null && body !== undefined) checkRow(row, closedRow(manifest))
    // A folder may lack the manifest that tells where the open month begins.
    else if (!closed && body !== undefined && before?.manifest !== null)
      checkRow(row, openRow(row, month, lastSeqOf(months)))
    months.push({ month, closed, manifest })
  }
  return months
}

/** Rows for a folder without the list of months. A month is closed when another follows, or when it has a manifest. */
async function unlistedRows(source: Source): Promise<readonly JsonObject[] | undefined> {
  const months = await source.months()
  if (months.length === 0) return undefined
  const last = months.at(-1)
  const lastClosed = (await source.read(`archive/${last}.json`)) !== undefined
  return months.map((month) => ({ month, state: month !== last || lastClosed ? 'closed' : 'open' }))
}

async function readManifest(source: Source, month: Month, size: number): Promise<Manifest | null> {
  const place = `archive/${month}.json`
  const body = await source.read(place, size)
  if (body !== undefined) return parseServedManifest(place, readObject(place, body), month)
  if (source.is === 'folder') return null
  throw new WrongError(place, 'is missing, though the month is closed')
}

function checkRow(row: JsonObject, expected: ArchiveMonth): void {
  const field = difference(row, expected)
  if (field !== null) throw new WrongError('archive', `${expected.month}: ${field} contradicts the manifests`)
}

/** Correct row of a closed month in the list of months. */
function closedRow({ month, firstSeq, lastSeq, events, lines, gzip }: Manifest): ArchiveMonth {
  const digests = { bytes: gzip.bytes, sha256: gzip.sha256, linesSha256: lines.sha256 }
  const parquetUrl = `/api/v1/archive/${month}.parquet`
  return { month, state: 'closed', ...filesOf(month), parquetUrl, events, firstSeq, lastSeq, ...digests }
}

/** Correct row of the open month in the list. Its last seq is trusted until the month is read. */
function openRow(row: JsonObject, month: Month, before: number): ArchiveMonth {
  const lastSeq = jsonInteger(row['lastSeq']) ?? 0
  const seqs = { events: lastSeq - before, firstSeq: before + 1, lastSeq }
  const digests = { bytes: null, sha256: null, linesSha256: null }
  return { month, state: 'open', ...filesOf(month), parquetUrl: null, ...seqs, ...digests }
}

function filesOf(month: Month): Pick<ArchiveMonth, 'url' | 'detailsUrl'> {
  const files = `/api/v1/archive/${month}`
  return { url: `${files}.jsonl.gz`, detailsUrl: `${files}.details.jsonl.gz` }
}

function lastSeqOf(months: readonly ListedMonth[]): number {
  return months.at(-1)?.manifest?.size ?? 0
}

/** Parses the manifest of a closed month. Throws a `WrongError` when it is malformed. */
export function parseServedManifest(place: string, from: JsonObject, month: Month): Manifest {
  const malformed = (what: string): WrongError => new WrongError(place, `${what} is malformed`)
  const whole = (name: string): number => {
    const value = jsonInteger(from[name])
    if (value === undefined) throw malformed(name)
    return value
  }
  const digest = (value: unknown, name: string): Digest => {
    const bytes = isJsonObject(value) ? jsonInteger(value['bytes']) : undefined
    const sha256 = isJsonObject(value) ? (jsonString(value['sha256']) ?? '') : ''
    if (bytes === undefined || !/^[0-9a-f]{64}$/.test(sha256)) throw malformed(name)
    return { bytes, sha256 }
  }
  if (from['month'] !== month) throw malformed('month')
  const [events, size] = [whole('events'), whole('size')]
  const firstSeq = events === 0 ? null : whole('firstSeq')
  const lastSeq = events === 0 ? null : whole('lastSeq')
  const expected = { firstSeq, lastSeq, firstIndex: firstSeq === null ? null : firstSeq - 1 }
  for (const [name, value] of Object.entries(expected)) if (from[name] !== value) throw malformed(name)
  if (firstSeq !== null && (lastSeq !== size || size - firstSeq + 1 !== events)) throw malformed('size')
  const root = parseBase64(jsonString(from['root']) ?? '')
  const checkpoint = jsonString(from['checkpoint'])
  if (root === undefined || !isHash(root)) throw malformed('root')
  if (checkpoint === undefined) throw malformed('checkpoint')
  const { lines, gzip, details } = from
  return {
    month,
    firstSeq,
    lastSeq,
    events,
    size,
    root,
    checkpoint,
    lines: digest(lines, 'lines'),
    gzip: digest(gzip, 'gzip'),
    details: {
      ...digest(details, 'details'),
      lines: digest(isJsonObject(details) ? details['lines'] : undefined, 'details.lines'),
    },
  }
}

/** Expected content of `SHA256SUMS`: the digests of the files of all closed months, in the format of `sha256sum`. */
export function sha256SumsOf(months: readonly ListedMonth[]): string {
  return months
    .flatMap(({ manifest }) => manifest ?? [])
    .map(
      ({ month, gzip, details }) =>
        `${gzip.sha256}  ${month}.jsonl.gz\n${details.sha256}  ${month}.details.jsonl.gz\n`,
    )
    .join('')
}
