import { assert } from '../../protocol/brand.ts'
import { DETAILS_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { SECOND_MS } from '../../protocol/moment.ts'

/** Limits of the exports of one thread. The end of a name is its unit. */
export type ExportLimits = Readonly<{
  /** Size of one write. The next write starts when the socket has drained. */
  writeBytesMax: number
  /** Size of a row: the longest values that the grammar allows, and their separators. */
  rowBytesMax: number
  /** Events examined for one write. */
  scanEventsMax: number
  /** Time after which an export from which nothing is taken is given up. */
  stallMs: number
  /** Time after which an export that waits for its reader is watched for progress, and between two looks. */
  lookMs: number
  /** Period of the timer that all exports share. */
  tickMs: number
  /** Time of the exports in one turn of the event loop. */
  sliceMs: number
  /** Expected duration of an export that has only begun. */
  firstGuessMs: number
  /** Longest wait that a refusal states. */
  retrySecondsMax: number
}>

const EXPORT_LIMITS: ExportLimits = {
  writeBytesMax: 64 * 1024,
  rowBytesMax: 320,
  scanEventsMax: 2_000,
  stallMs: 120 * SECOND_MS,
  lookMs: 10 * SECOND_MS,
  tickMs: SECOND_MS,
  sliceMs: 4,
  firstGuessMs: 10 * SECOND_MS,
  retrySecondsMax: 600,
}

/** The limits with some replaced. Throws when they contradict each other. */
export function exportLimits(changes: Partial<ExportLimits> = {}): ExportLimits {
  const limits = { ...EXPORT_LIMITS, ...changes }
  // In quotes, each quote of the details is doubled.
  const rowBytes = 2 * DETAILS_LINE_BYTES_MAX + limits.rowBytesMax
  assert(rowBytes <= limits.writeBytesMax, 'a write holds a row with its details')
  assert(limits.scanEventsMax >= rowsOfWrite(limits), 'a scan covers a whole write')
  assert(limits.tickMs <= limits.lookMs && limits.lookMs <= limits.stallMs / 2, 'a stall has several looks')
  return limits
}

/** Rows of one write. */
export function rowsOfWrite({ writeBytesMax, rowBytesMax }: ExportLimits): number {
  return Math.floor(writeBytesMax / rowBytesMax)
}
