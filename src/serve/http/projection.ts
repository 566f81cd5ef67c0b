import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import { floorTo, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { Parsed } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { AnswerCache } from './answer-cache.ts'
import { etagOfForm, type PresentEtag } from './etag.ts'
import { problemReply, type Reply, type RouteRequest } from './route.ts'

/** Tools of a thread for answers that are computed from the log. */
export type Desk = Readonly<{ reader: LogReader; etag: PresentEtag; cache: AnswerCache }>

/** State that an answer depends on: none (settled), the log up to its head, or the present minute too. */
export type Ground = 'settled' | 'log' | 'minute'

/**
 * A projection that is ready to be computed. Questions without an answer are refused before this, so a caller that
 * names the ETag gets `unchanged` without a computation.
 */
type Projection = Readonly<{
  ground: Ground
  /** Seq of the last event that could change the answer, apart from `asOf`; the head if absent. */
  changedBy?: Seq
  /** Version of what the answer shows beside the log. */
  beside?: string
  /** Computes the bytes and the seq of the last event counted, or a problem if the question has no answer. */
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
 * Answers a question in one snapshot of the log. Nothing is computed if the caller has the answer already, or if the
 * answer to the same question at the same head is cached.
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
    const { ground, changedBy = snapshot.head.seq, beside, compute } = prepared.value
    const keep = ground === 'settled' ? 'immutable' : 'revalidate'
    const named = etagOn(desk, { ground, changedBy, beside }, present)
    const form = ask.query.word('format') ?? 'json'
    const etag = named === null || form === 'json' ? named : etagOfForm(named, form)
    if (etag !== null && holdsByName(ask, etag)) {
      // The answer counts every event up to the head.
      return { is: 'unchanged', keep, etag, headers: { 'Daybook-Seq': String(snapshot.head.seq) } }
    }

    // Two answers with the same ETag may state different heads.
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

/** A projection of a JSON resource; its seq is that of `asOf`. */
export function jsonProjection(resource: Readonly<{ asOf: Readonly<{ seq: number }> }>): Projected {
  return { body: Buffer.from(JSON.stringify(resource)), type: JSON_TYPE, seq: resource.asOf.seq }
}

/** ETag that is known before the answer; null for settled answers, whose ETag is a digest of their content. */
function etagOn(
  desk: Desk,
  { ground, changedBy, beside }: Readonly<{ ground: Ground; changedBy: Seq; beside: string | undefined }>,
  present: Ms,
): string | null {
  switch (ground) {
    case 'settled':
      return null
    case 'log':
      return desk.etag(changedBy)
    case 'minute':
      return desk.etag(changedBy, present, beside)
  }
}

/** Whether the caller names this ETag. `*` names any existing answer, which is known only after computing it. */
export function holdsByName(ask: RouteRequest, etag: string): boolean {
  return ask.header('if-none-match')?.trim() !== '*' && ask.holds(etag)
}
