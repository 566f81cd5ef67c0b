import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import { floorTo, MINUTE_MS } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { AnswerCache } from './answer-cache.ts'
import type { PresentEtag } from './etag.ts'
import type { RouteRequest, Reply } from './route.ts'
import { problemReply } from './route.ts'

/** What every answer that is computed from the log works with; one per thread. */
export type Desk = Readonly<{ reader: LogReader; etag: PresentEtag; cache: AnswerCache }>

/** What an answer rests on: nothing that can change, the log up to its head, or the present minute too. */
export type Ground = 'settled' | 'log' | 'minute'

/**
 * A projection about to be computed: what it rests on, and how. Whoever prepares it has refused what has no answer:
 * a caller that names the ETag is told `unchanged` without a computation.
 */
export type Projection = Readonly<{
  ground: Ground
  /** Seq of the last event that could change the answer, `asOf` apart; the head when absent. */
  changedBy?: Seq
  /** The bytes, and the seq of the last event counted; a problem when the question has no answer. */
  compute(): Parsed<Projected>
}>

export type Projected = Readonly<{
  body: Uint8Array
  type: string
  seq: number
  headers?: Readonly<Record<string, string>>
}>

export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Answers a question in one snapshot of the log. A caller that holds the answer is told so before anything is
 * computed; what was computed for the same question at the same head is not computed again.
 */
export function project(
  desk: Desk,
  ask: RouteRequest,
  prepare: (snapshot: Snapshot, present: Ms) => Parsed<Projection>,
): Reply {
  return desk.reader.snapshot((snapshot): Reply => {
    const present = floorTo(ask.now, MINUTE_MS)
    const prepared = prepare(snapshot, present)
    if (!prepared.ok) return problemReply(prepared.problem)
    const { ground, changedBy = snapshot.head.seq, compute } = prepared.value
    const keep = ground === 'settled' ? 'immutable' : 'revalidate'
    const etag = etagOn(desk, ground, changedBy, present)
    if (etag !== null && holdsByName(ask, etag)) {
      // The same answer counts every event up to the head.
      return { is: 'unchanged', keep, etag, headers: { 'Daybook-Seq': String(snapshot.head.seq) } }
    }

    // An answer of the same ETag may state another head.
    const key = `${ask.path}${ask.query.format()} ${etag === null ? '' : `${etag} ${snapshot.head.seq}`}`
    const kept = desk.cache.get(key)
    if (kept !== undefined) {
      const { 'Content-Type': type = JSON_TYPE, ...headers } = kept.headers
      return { is: 'body', keep, etag: etag ?? 'of-content', type, body: kept.body, headers }
    }
    const computed = compute()
    if (!computed.ok) return problemReply(computed.problem)
    const { body, type, seq } = computed.value
    const headers = { ...computed.value.headers, 'Daybook-Seq': String(seq) }
    desk.cache.set(key, { body, headers: { ...headers, 'Content-Type': type } })
    return { is: 'body', keep, etag: etag ?? 'of-content', type, body, headers }
  })
}

/** A projection that is a resource in JSON; the seq is that of its `asOf`. */
export function jsonProjection(resource: Readonly<{ asOf: Readonly<{ seq: number }> }>): Projected {
  return { body: Buffer.from(JSON.stringify(resource)), type: JSON_TYPE, seq: resource.asOf.seq }
}

/** The ETag that is known before the answer is; of what is settled only its content tells. */
function etagOn(desk: Desk, ground: Ground, changedBy: Seq, present: Ms): string | null {
  switch (ground) {
    case 'settled':
      return null
    case 'log':
      return desk.etag(changedBy)
    case 'minute':
      return desk.etag(changedBy, present)
  }
}

/** `*` names whatever exists, and whether something does is known only once it is computed. */
export function holdsByName(ask: RouteRequest, etag: string): boolean {
  return ask.header('if-none-match')?.trim() !== '*' && ask.holds(etag)
}
