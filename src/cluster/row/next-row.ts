import { isSame } from '../../tlog/hash.ts'
import type { LogRow, RowPlace } from './log-row.ts'

/** Reason why the row at a place of the table is not the wanted one; null when it is. */
export function refusalOfRow(row: LogRow, place: number, want: RowPlace): string | null {
  if (place !== want.place) return `it is at place ${place}, and place ${want.place} is missing`
  if (row.logId !== want.logId) return 'it is of another log'
  if (row.place !== place) return `it was made for place ${row.place}`
  if (!isSame(row.prev, want.prev)) return `it does not follow the row at place ${place - 1} of this node`
  if ((row.is === 'begin') !== (place === 1)) return 'only the first row begins a log'
  return null
}

/** Whether a row was made for the wanted place, after another row than the one that is known there. */
export function followsOther({ logId, place, prev }: LogRow, want: RowPlace): boolean {
  return logId === want.logId && place === want.place && !isSame(prev, want.prev)
}
