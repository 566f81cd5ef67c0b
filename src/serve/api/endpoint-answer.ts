import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import type { Answers, TableEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import { type Parsed, parsed } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import { CSV_TYPE, exportName, formatCsv } from '../http/csv.ts'
import { etagOfForm, type PresentEtag } from '../http/etag.ts'
import { JSON_TYPE } from '../http/headers.ts'
import { type EndpointAnswer, type Keep, problemReply, type Reply, type RouteRequest } from '../http/route.ts'
import { ANSWER_TABLES } from './answer-tables.ts'

/** The log that answers are computed from, and the form of their ETags. */
export type AnswerSource = Readonly<{ reader: LogReader; etag: PresentEtag }>

/** Cause that may change an answer: none (`settled`), an event of the log, or the clock too. */
export type Freshness = 'settled' | 'log' | 'minute'

/**
 * An answer that is ready to be computed. Requests without an answer are refused before this, so a caller that names the
 * ETag gets `unchanged` without a computation.
 */
type Projection<Value> = Readonly<{
  freshness: Freshness
  /** Seq of the last event that could change the answer, apart from `asOf`; the head if absent. */
  changedBy?: Seq
  /** Version of what the answer shows beside the log. */
  beside?: string
  /** Computes the answer, or a problem if the request has none. */
  compute(): Parsed<Value>
}>

/** An answer in the format of a request, and the seq of the last event that it counts. */
type Formatted = Readonly<{
  body: Uint8Array
  type: string
  seq: number
  headers?: Readonly<Record<string, string>>
}>

type Prepare<Value> = (ask: RouteRequest, snapshot: Snapshot, present: Ms) => Parsed<Projection<Value>>
type Format<Value> = (value: Value, ask: RouteRequest, snapshot: Snapshot) => Formatted

/**
 * Answer of an endpoint, made in one snapshot of the log. Nothing is computed if the caller has the answer already. A page
 * takes its value, without the format.
 */
export function endpointAnswer<Value>(
  { reader, etag: presentEtag }: AnswerSource,
  format: Format<Value>,
  prepare: Prepare<Value>,
): EndpointAnswer {
  return {
    handle: (ask) =>
      reader.snapshot((snapshot): Reply => {
        const present = floorTo(ask.now, MINUTE_MS)
        const prepared = prepare(ask, snapshot, present)
        if (!prepared.ok) return problemReply(prepared.problem)
        const projection = prepared.value
        const keep = keepOf(projection)
        const named = etagOf(projection, snapshot.head.seq, present, presentEtag)
        const form = ask.query.word('format') ?? 'json'
        const etag = named === null || form === 'json' ? named : etagOfForm(named, form)
        if (etag !== null && holdsByName(ask, etag)) {
          // The answer counts every event up to the head.
          return { is: 'unchanged', keep, etag, headers: { 'Daybook-Seq': String(snapshot.head.seq) } }
        }
        const computed = projection.compute()
        if (!computed.ok) return problemReply(computed.problem)
        const { body, type, seq, headers } = format(computed.value, ask, snapshot)
        const all = { ...headers, 'Daybook-Seq': String(seq) }
        return { is: 'body', keep, etag: etag ?? 'of-content', type, body, headers: all }
      }),
    value: (ask) =>
      reader.snapshot((snapshot) => {
        const prepared = prepare(ask, snapshot, floorTo(ask.now, MINUTE_MS))
        if (!prepared.ok) return prepared
        const computed = prepared.value.compute()
        return computed.ok ? parsed({ value: computed.value, keep: keepOf(prepared.value) }) : computed
      }),
  }
}

function keepOf({ freshness }: Projection<unknown>): Keep {
  return freshness === 'settled' ? 'immutable' : 'revalidate'
}

/** ETag that is known before the answer; null for settled answers, whose ETag is a digest of their content. */
function etagOf(
  { freshness, changedBy, beside }: Projection<unknown>,
  head: Seq,
  present: Ms,
  presentEtag: PresentEtag,
): string | null {
  switch (freshness) {
    case 'settled':
      return null
    case 'log':
      return presentEtag(changedBy ?? head)
    case 'minute':
      return presentEtag(changedBy ?? head, present, beside)
  }
}

/** Whether the caller names this ETag. `*` names any existing answer, which is known only after computing it. */
export function holdsByName(ask: RouteRequest, etag: string): boolean {
  return ask.header('if-none-match')?.trim() !== '*' && ask.holds(etag)
}

/** An answer as JSON; its seq is that of `asOf`. */
export function formatJson(value: Readonly<{ asOf: Readonly<{ seq: number }> }>): Formatted {
  return { body: Buffer.from(JSON.stringify(value)), type: JSON_TYPE, seq: value.asOf.seq }
}

type ListAnswer = Readonly<{ asOf: AsOf; next?: string | null }>

/**
 * A list in the format of the request: JSON, or with `format=csv` its table as CSV. `Link` names the next page, in the same
 * format.
 */
export function formatList<Id extends TableEndpoint>(id: Id): Format<Answers[Id] & ListAnswer> {
  return (answer, ask) => {
    if (ask.query.word('format') !== 'csv')
      return { ...formatJson(answer), headers: linkTo(answer.next ?? null) }
    const table = ANSWER_TABLES[id](answer)
    return {
      body: Buffer.from(formatCsv(table)),
      type: CSV_TYPE,
      seq: answer.asOf.seq,
      headers: {
        'Content-Disposition': `attachment; filename="${exportName(ask, table, answer.asOf)}"`,
        ...linkTo(table.next === null ? null : `${table.next}&format=csv`),
      },
    }
  }
}

/** The path of a next page always has a query. */
function linkTo(next: string | null): Readonly<Record<string, string>> {
  return next === null ? {} : { Link: `<${next}>; rel="next"` }
}
