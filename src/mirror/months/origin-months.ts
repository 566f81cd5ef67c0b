import { type Month, nextMonth, parseMonth } from '../../protocol/moment.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { jsonInteger, type JsonObject, jsonString, objectsOf } from '../../verify/reading/json-values.ts'
import { type Manifest, parseServedManifest } from '../../verify/reading/manifest.ts'
import { noDaybook, type Origin } from '../origin/open-origin.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import { type MonthEnd, provenMonthEnd } from '../proof/proven-tree.ts'

/** Month in the origin's list. `lastSeq` is null in a month without events. */
export type OriginMonth = Readonly<{ month: Month; closed: boolean; lastSeq: number | null }>

/** Closed month with its signed end, and its manifest as served. */
export type ClosedMonth = Readonly<{ manifest: Manifest; end: MonthEnd; served: JsonObject }>

/** Bytes of the list of 12,000 months. */
const LIST_BYTES_MAX: number = 8 * 1024 * 1024
const MANIFEST_BYTES_MAX: number = 64 * 1024
/** Most months of an archive: a thousand years. */
const MONTHS_MAX = 12_000

/** Reads the list of months, ascending. Throws a `WrongError` when it is malformed. */
export async function readOriginMonths(origin: Origin, signal: AbortSignal): Promise<readonly OriginMonth[]> {
  const { months: listed } = await origin.json('archive', { bytesMax: LIST_BYTES_MAX }, signal)
  // A gateway may have answered instead of the origin.
  if (listed === undefined) throw noDaybook()
  const rows = objectsOf(listed)
  if (rows === undefined || rows.length > MONTHS_MAX) throw new WrongError('archive', 'lacks its months')
  let before: Month | null = null
  const months: OriginMonth[] = []
  for (const row of rows) {
    const month = parseMonth(jsonString(row['month']) ?? '')
    if (month === undefined) throw new WrongError('archive', 'a month is malformed')
    if (before !== null && nextMonth(before) !== month)
      throw new WrongError('archive', `${month} does not follow ${before}`)
    before = month
    months.push({ month, closed: row['state'] === 'closed', lastSeq: jsonInteger(row['lastSeq']) ?? null })
  }
  return months
}

/**
 * Reads the manifest of a closed month, and proves the checkpoint in it. Throws an `unexpected-answer` when there is
 * none, because a proxy or a node that is behind may have answered. Throws a `WrongError` when it is wrong.
 */
export async function readClosedMonth(
  origin: Origin,
  month: Month,
  keys: OriginKeys,
  signal: AbortSignal,
): Promise<ClosedMonth> {
  const place = `archive/${month}.json`
  const served = await origin.json(place, { bytesMax: MANIFEST_BYTES_MAX }, signal)
  if (served['month'] === undefined) throw noDaybook()
  const manifest = parseServedManifest(place, served, month)
  const end = await provenMonthEnd(place, manifest.checkpoint, keys)
  if (end.size !== manifest.size || Buffer.compare(end.root, manifest.root) !== 0)
    throw new WrongError(place, 'its checkpoint is not of its size and root')
  return { manifest, end, served }
}
