import type { ServerResponse } from 'node:http'
import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { ExportPlace } from '../allowance/export-places.ts'
import type { EventsRange } from '../api/events-range.ts'
import type { WatchedWriter } from '../request/stall-watch.ts'
import { type ExportLimits, rowsOfWrite } from './export-limits.ts'

/** Cause of an export's end: it is whole, its caller left or took nothing, or the node failed. */
export type ExportEnd = 'whole' | 'client' | 'stalled' | 'error'

/** An export whose headers are written, with its first rows. */
export type Began = Readonly<{
  response: ServerResponse
  range: EventsRange
  /** Whether the last column has the details. */
  details: boolean
  rows: ExportRows
  place: ExportPlace
}>

/** An export in progress; times in milliseconds of the monotonic clock. */
export type ExportRun = WatchedWriter & {
  readonly response: ServerResponse
  readonly range: EventsRange
  readonly details: boolean
  readonly place: ExportPlace
  readonly startedAt: number
  /** The last seq scanned. */
  scannedTo: Seq
  /** Whether the last rows are read. */
  done: boolean
  /** Callback of a write: the kernel has accepted it, or the error. */
  readonly flushed: (error?: Error | null) => void
  ended: boolean
}

/** Rows that follow the last scanned seq, and where they end. */
type ExportRows = Readonly<{ bytes: Uint8Array; scannedTo: Seq; done: boolean }>

/** Reads the rows of one write after `scannedTo` (before it, in descending order). */
export function readRows(
  snapshot: Snapshot,
  { range, details }: Pick<ExportRun, 'range' | 'details'>,
  scannedTo: Seq,
  limits: ExportLimits,
): ExportRows {
  const { order, after, before } = range
  const rest = order === 'asc' ? { after: scannedTo, before } : { after, before: scannedTo }
  if (rest.before - rest.after <= 1) return { bytes: NOTHING, scannedTo, done: true }
  const walk = { ...range, ...rest, limit: rowsOfWrite(limits), examineMax: limits.scanEventsMax }
  const {
    bytes,
    scannedTo: reached,
    hasMore,
  } = details ? snapshot.detailedWalk(walk, 'csv', limits.writeBytesMax) : snapshot.walk(walk, 'csv')
  return { bytes, scannedTo: reached, done: !hasMore }
}

const NOTHING = new Uint8Array(0)

/** Opens the run of an export. `goOn` is called when the kernel has accepted a write. */
export function openRun(began: Began, now: number, goOn: (run: ExportRun) => void): ExportRun {
  const { response, range, details, place, rows } = began
  const { scannedTo, done } = rows
  const run: ExportRun = {
    response,
    range,
    details,
    place,
    startedAt: now,
    scannedTo,
    done,
    blockedSince: null,
    unacknowledged: null,
    flushed(error) {
      // A failed write is followed by the `close` of its response.
      if (error !== undefined && error !== null) return
      run.blockedSince = null
      goOn(run)
    },
    ended: false,
  }
  return run
}

/** Reads and writes the next rows. */
export function writeRows(reader: LogReader, run: ExportRun, limits: ExportLimits, now: number): void {
  const rows = reader.snapshot((snapshot) => readRows(snapshot, run, run.scannedTo, limits))
  run.scannedTo = rows.scannedTo
  run.done = rows.done
  if (rows.bytes.byteLength > 0) writeBytes(run, rows.bytes, now)
  else run.flushed()
}

/** Writes bytes, which are in flight until `flushed` is called. */
export function writeBytes(run: ExportRun, bytes: Uint8Array, now: number): void {
  run.blockedSince = now
  run.unacknowledged = null
  run.response.write(bytes, run.flushed)
}

/** Moment at which an export is expected to end, if it goes on as fast as until now. */
export function expectedEnd(run: ExportRun, now: number, limits: ExportLimits): number {
  const { after, before, order } = run.range
  const all = before - after
  const scanned = order === 'asc' ? run.scannedTo - after : before - run.scannedTo
  const elapsed = now - run.startedAt
  if (scanned <= 0 || elapsed < limits.tickMs) return now + limits.firstGuessMs
  return now + (elapsed * (all - scanned)) / scanned
}
