import type { AsOf } from '../../protocol/resources.ts'
import type { View } from './page.ts'
import type { AnswerTable } from '../markup/table.ts'

/** What says where a page of an answer begins and ends: the events in it say the same of the file. */
const PAGING: ReadonlySet<string> = new Set(['after', 'before', 'limit', 'order'])
const WORD_LENGTH_MAX = 40

/**
 * A name for an export that says what is in it: what was asked, then the events that it holds, or the last that it
 * counts, and `cut` where the answer goes on.
 */
export function exportName(
  { path, query }: Pick<View, 'path' | 'query'>,
  table: AnswerTable,
  asOf: AsOf | null,
): string {
  const asked = [...new URLSearchParams(query.format().slice(1))].filter(([name]) => !PAGING.has(name))
  const words = [
    'daybook',
    ...path.split('/').filter((part) => part !== ''),
    ...asked.flat(),
    asOf === null ? stretchOf(table) : `event-${asOf.seq}`,
    table.next === null ? '' : 'cut',
  ]
  return `${words
    .filter((word) => word !== '')
    .map((word) => word.replaceAll(/[^\w.-]+/g, '-').slice(0, WORD_LENGTH_MAX))
    .join('-')}.csv`
}

/** The first and the last event of rows that are events. */
function stretchOf({ columns, rows }: AnswerTable): string {
  const seqs = rows.map((row) => Number(row[columns.indexOf('seq')])).filter((seq) => !Number.isNaN(seq))
  return seqs.length === 0 ? 'none' : `events-${Math.min(...seqs)}-${Math.max(...seqs)}`
}
