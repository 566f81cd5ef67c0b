import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import { ANSWERS, type Freshness } from '../../project/answers/computed-answers.ts'
import { isTableEndpoint, type RecomputedEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { type Parsed, parsed } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import { CSV_TYPE, exportName, formatCsv } from '../http/csv.ts'
import { etagOfForm, type PresentEtag } from '../http/etag.ts'
import { JSON_TYPE } from '../http/headers.ts'
import { type EndpointAnswer, problemReply, type Reply, type RouteRequest } from '../http/route.ts'
import { answerTable } from './answer-tables.ts'
import { earlier, newestChange } from './changing-events.ts'

/** Log from which answers are computed, and the form of their ETags. */
export type AnswerSource = Readonly<{ reader: LogReader; etag: PresentEtag }>

/**
 * Answer that is ready to be computed. Requests without an answer are refused before, so that a caller with the ETag
 * gets `unchanged` without a computation.
 */
type Projection<Value> = Readonly<{
  freshness: Freshness
  /** Seq of the last event that could change the answer, apart from `asOf`; the head if absent. */
  changedBy?: Seq
  /** Version of anything that the answer shows besides the log and the clock. */
  beside?: string
  /** Computes the answer, or a problem if the request has none. */
  compute(): Parsed<Value>
}>

/** Answer in the requested format, and the seq of the last event that it counts. */
type Formatted = Readonly<{
  body: string
  type: string
  seq: number
  headers?: Readonly<Record<string, string>>
}>

type Prepare<Value> = (request: RouteRequest, snapshot: Snapshot, present: Ms) => Parsed<Projection<Value>>
type Format<Value> = (value: Value, request: RouteRequest, snapshot: Snapshot) => Formatted

/** Answer of an endpoint in the table of computed answers. */
export function computedAnswer(source: AnswerSource, id: RecomputedEndpoint): EndpointAnswer {
  return endpointAnswer(source, answerFormat(id), (request, snapshot) => {
    const prepared = ANSWERS[id](snapshot.books, request)
    if (!prepared.ok) return prepared
    const { freshness, list, lastSeq = snapshot.head.seq, compute } = prepared.value
    const changedBy = list === undefined ? lastSeq : earlier(lastSeq, newestChange(snapshot, list))
    return parsed({ freshness, changedBy, compute: () => compute(snapshot.books) })
  })
}

/**
 * Answer of an endpoint, made in one snapshot of the log. Computes nothing if the caller has the answer already. Pages
 * use its value, without the format.
 */
export function endpointAnswer<Value>(
  { reader, etag: presentEtag }: AnswerSource,
  format: Format<Value>,
  prepare: Prepare<Value>,
): EndpointAnswer {
  return {
    handle: (request) =>
      reader.snapshot((snapshot): Reply => {
        const present = floorTo(request.now, MINUTE_MS)
        const prepared = prepare(request, snapshot, present)
        if (!prepared.ok) return problemReply(prepared.problem)
        const { freshness, changedBy = snapshot.head.seq, beside, compute } = prepared.value
        const keep = keepOf(freshness)
        let etag = 'of-content'
        if (freshness !== 'settled') {
          const named = presentEtag(changedBy, freshness === 'minute' ? present : undefined, beside)
          const form = request.query.word('format') ?? 'json'
          etag = form === 'json' ? named : etagOfForm(named, form)
          // The answer counts every event up to the head.
          const headers = { 'Daybook-Seq': String(snapshot.head.seq) }
          if (holdsByName(request, etag)) return { is: 'unchanged', keep, etag, headers }
        }
        const computed = compute()
        if (!computed.ok) return problemReply(computed.problem)
        const { body, type, seq, headers } = format(computed.value, request, snapshot)
        return { is: 'body', keep, etag, type, body, headers: { ...headers, 'Daybook-Seq': String(seq) } }
      }),
    value: (request) =>
      reader.snapshot((snapshot) => {
        const prepared = prepare(request, snapshot, floorTo(request.now, MINUTE_MS))
        if (!prepared.ok) return prepared
        const computed = prepared.value.compute()
        if (!computed.ok) return computed
        return parsed({ value: computed.value, keep: keepOf(prepared.value.freshness) })
      }),
  }
}

/** Cache policy of an answer. One that nothing can change is immutable. */
function keepOf(freshness: Freshness): 'immutable' | 'revalidate' {
  return freshness === 'settled' ? 'immutable' : 'revalidate'
}

/**
 * Whether the caller names this ETag. `*` does not count, because it means any existing answer, which only computing
 * shows.
 */
export function holdsByName(request: RouteRequest, etag: string): boolean {
  return request.header('if-none-match')?.trim() !== '*' && request.holds(etag)
}

/**
 * Formats an answer as JSON, or with `format=csv` its list as a table. Its seq is that of `asOf`. `Link` names the next
 * page, in the same format.
 */
export function answerFormat(id: EndpointId): Format<Readonly<{ asOf: AsOf; next?: string | null }>> {
  const tableId = isTableEndpoint(id) ? id : null
  return (answer, request) => {
    const { seq } = answer.asOf
    const next = answer.next ?? null
    if (tableId === null || request.query.word('format') !== 'csv') {
      const headers = next === null ? {} : { Link: `<${next}>; rel="next"` }
      return { body: JSON.stringify(answer), type: JSON_TYPE, seq, headers }
    }
    const table = answerTable(tableId, answer)
    const name = exportName(request, table, answer.asOf)
    const headers = {
      'Content-Disposition': `attachment; filename="${name}"`,
      // The path of a next page always has a query.
      ...(next === null ? {} : { Link: `<${next}&format=csv>; rel="next"` }),
    }
    return { body: formatCsv(table), type: CSV_TYPE, seq, headers }
  }
}
