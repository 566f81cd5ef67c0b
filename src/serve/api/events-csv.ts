import { exportFileName } from '../http/export-name.ts'
import type { ParsedQuery } from '../query/query.ts'
import type { EventsRange } from './events-range.ts'

const COLUMNS = 'seq,type,kind,at,atMs,contestId,kots,tx'

/** Header row; with `details=1` it has one more column. */
export function csvHeader(details: boolean): Uint8Array {
  return Buffer.from(`${COLUMNS}${details ? ',details' : ''}\r\n`)
}

/** Last seq that a CSV answer has read, and whether more follow: the fields of `page` that CSV cannot carry. */
type CsvExtent = Readonly<{ scannedTo: number; hasMore: boolean }>

/**
 * Headers of a CSV answer. Its file name has the filter and the range of seqs; that of a page also has `part`, so that
 * nobody takes it for the whole.
 */
export function csvHeaders(
  query: ParsedQuery,
  { order, after, before }: EventsRange,
  { scannedTo, hasMore }: CsvExtent,
  part: 'part' | 'whole',
): Readonly<Record<string, string>> {
  const [first, last] = order === 'asc' ? [after + 1, scannedTo] : [scannedTo, before - 1]
  const stretch = first > last ? 'none' : `${first}-${last}`
  const name = exportFileName({ path: '/events', query }, [stretch, ...(part === 'part' ? [part] : [])])
  return {
    'Daybook-Scanned-To': String(scannedTo),
    'Daybook-Has-More': String(hasMore),
    'Content-Disposition': `attachment; filename="${name}"`,
  }
}
