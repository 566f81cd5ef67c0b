import { createHash } from 'node:crypto'
import type { Ms } from '../../protocol/moment.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'

const ENTITY_TAG = /^(?:W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"$/
/** An `If-None-Match` longer than this is answered as if it were absent. */
const LIST_CHARS_MAX = 4_096

/** A strong ETag of some bytes: it changes with any of them. */
export function etagOf(body: Uint8Array | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
}

/** The same ETag, made weak: it names the same content under any coding of its bytes. */
export function weak(etag: string): string {
  return etag.startsWith('W/') ? etag : `W/${etag}`
}

/** Whether an `If-None-Match` names this ETag, weak or strong, or is `*`. What is malformed names nothing. */
export function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch.length > LIST_CHARS_MAX) return false
  if (ifNoneMatch.trim() === '*') return true
  const wanted = ENTITY_TAG.exec(etag)?.[1]
  // No ETag of ours holds a comma, so that splitting at commas cannot cut one that would match.
  return ifNoneMatch.split(',').some((one) => {
    const tag = ENTITY_TAG.exec(one.trim())?.[1]
    return tag !== undefined && tag === wanted
  })
}

/**
 * The ETag of an answer that no event after `changedBy` has changed and that, given `present` (a whole minute), changes
 * with the clock. Of two such answers `asOf` may differ: the ETag is to be sent as a weak one.
 */
export type PresentEtag = (changedBy: Seq, present?: Ms) => string

/** Such ETags for one log and one build: an answer of another build may be written differently. */
export function openPresentEtag(logId: string, build: string): PresentEtag {
  const prefix = `${logId.slice(0, 12)}-${build.replaceAll(/[^\w.]/g, '')}`
  return (changedBy, present) =>
    present === undefined ? `"${prefix}-${changedBy}"` : `"${prefix}-${changedBy}-${present / MINUTE_MS}"`
}
