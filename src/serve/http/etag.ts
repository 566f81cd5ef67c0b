import { createHash } from 'node:crypto'
import { MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'

/** Strong ETag of some bytes: the start of their SHA-256. */
export function etagOf(body: Uint8Array | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
}

/** Weak form of an ETag, which names the same content in any coding. */
export function weak(etag: string): string {
  return etag.startsWith('W/') ? etag : `W/${etag}`
}

/** Whether an `If-None-Match` names this ETag, weak or strong, or is `*`. Malformed tags match nothing. */
export function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const strong = etag.startsWith('W/') ? etag.slice(2) : etag
  // No ETag of ours holds a comma, so splitting at commas cuts none that could match.
  for (const one of ifNoneMatch.split(',')) {
    const tag = one.trim()
    if (tag === strong || tag === `W/${strong}`) return true
  }
  return false
}

/**
 * Whether an `If-Match` allows an answer with this ETag: it is absent, is `*`, or names the ETag. Only `*` matches a
 * weak ETag, because the comparison is strong (RFC 9110, section 13.1.1).
 */
export function allows(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true
  return !etag.startsWith('W/') && ifMatch.split(',').some((one) => one.trim() === etag)
}

/** ETag of another form of the same answer, such as its CSV. */
export function etagOfForm(etag: string, form: string): string {
  return `${etag.slice(0, -1)}-${form}"`
}

/**
 * ETag of an answer that event `changedBy` was the last to change. `present` (a whole minute) is given if it also
 * changes with the clock. `beside` is the version of anything else that it shows. `asOf` may differ between two such
 * answers, so the ETag is sent as a weak one.
 */
export type PresentEtag = (changedBy: Seq, present?: Ms, beside?: string) => string

/** Opens these ETags for one log and one build, because another build may write an answer differently. */
export function openPresentEtag(logId: string, build: string): PresentEtag {
  const prefix = `${logId.slice(0, 12)}-${build.replaceAll(/[^\w.]/g, '')}`
  return (changedBy, present, beside) => {
    let name = `${prefix}-${changedBy}`
    if (present !== undefined) name += `-${present / MINUTE_MS}`
    if (beside !== undefined) name += `-${beside}`
    return `"${name}"`
  }
}
