import type { AnswerOf, TableEndpoint } from '../../protocol/endpoints/endpoint-rows.ts'
import type { AsOf } from '../../protocol/resource-fields.ts'
import { CSV_TYPE, formatCsv } from '../http/csv.ts'
import { exportName } from '../http/export-name.ts'
import { jsonProjection, type Projected } from '../http/projection.ts'
import type { RouteRequest } from '../http/route.ts'
import { ANSWER_TABLES } from './answer-tables.ts'

type ListAnswer = Readonly<{ asOf: AsOf; next?: string | null }>

/**
 * A projection of a list in the format of the question: JSON, or with `format=csv` its table as CSV. `Link` names the
 * next page, in the same format.
 */
export function listProjection<Id extends TableEndpoint>(
  ask: RouteRequest,
  id: Id,
  answer: AnswerOf<Id> & ListAnswer,
): Projected {
  if (ask.query.word('format') !== 'csv') {
    return { ...jsonProjection(answer), headers: linkTo(answer.next ?? null) }
  }
  const table = ANSWER_TABLES[id](answer)
  const next = table.next === null ? null : `${table.next}&format=csv`
  return {
    body: Buffer.from(formatCsv(table)),
    type: CSV_TYPE,
    seq: answer.asOf.seq,
    headers: {
      'Content-Disposition': `attachment; filename="${exportName(ask, table, answer.asOf)}"`,
      ...linkTo(next),
    },
  }
}

/** The path of a next page always has a query. */
function linkTo(next: string | null): Readonly<Record<string, string>> {
  return next === null ? {} : { Link: `<${next}>; rel="next"` }
}
