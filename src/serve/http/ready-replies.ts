import { LRUCache } from 'lru-cache'
import type { Coding } from './coding.ts'
import type { RequestTally } from '../metrics/request-tally.ts'

/** An answer that never changes, in its written form: names and values of headers in turn, and its body. */
export type ReadyReply = Readonly<{
  tally: RequestTally
  etag: string | null
  headers: string[]
  /** Headers of the 304 in its place. */
  unchanged: string[]
  body: ReplyBody
}>

/**
 * Bytes of a body. A short body is a string of one character for each byte, so that head and body are sent in one
 * piece.
 */
type ReplyBody = Uint8Array | string

/** Bytes from which a body costs less when it is written apart from its head. */
const STRING_BYTES_MAX = 4 * 1024

/** The body in the form that is cheapest to write with `BODY_ENCODING`. */
export function bodyOf(bytes: Uint8Array): ReplyBody {
  if (!isCopied(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(BODY_ENCODING)
}

/** Whether `bodyOf` copies these bytes. */
export function isCopied(bytes: Uint8Array): boolean {
  return bytes.byteLength <= STRING_BYTES_MAX
}

/** Maps each byte to one character and back. */
export const BODY_ENCODING = 'latin1'

/** Coding of a body; `any` means that the body does not depend on `Accept-Encoding`. */
export type FormOf = Coding | 'identity' | 'any'

/** Cache of answers that never change, by the request's target: path and query, as `partsOf` names them. */
export type ReadyReplies = Readonly<{
  get(target: string): ReadyForms | undefined
  /** Keeps a reply as one form of its target, unless that form is kept already or the reply is too large. */
  set(target: string, form: FormOf, reply: ReadyReply): void
}>

type ReadyForms = ReadonlyMap<FormOf, ReadyReply>

/** Bytes of the largest cached reply. A larger one would evict many frequent ones. */
const REPLY_BYTES_MAX = 1024 * 1024
/** Bytes of a reply beside its body and its target: two lists of headers and its place in the cache. */
const ENTRY_BYTES = 1_024

/** Opens a cache of the answers used last, at most `bytesMax` bytes together. */
export function openReadyReplies(bytesMax: number = 32 * 1024 * 1024): ReadyReplies {
  const entries = new LRUCache<string, Readonly<{ forms: ReadyForms; bytes: number }>>({ maxSize: bytesMax })
  return {
    get: (target) => entries.get(target)?.forms,
    set(target, form, reply) {
      // A link to the next page repeats the target.
      const bytes = ENTRY_BYTES + target.length + reply.body.length
      if (bytes > Math.min(REPLY_BYTES_MAX, bytesMax / 4)) return
      const known = entries.get(target)
      if (known?.forms.has(form) === true) return
      const size = bytes + (known?.bytes ?? target.length)
      entries.set(target, { forms: new Map([...(known?.forms ?? []), [form, reply]]), bytes: size }, { size })
    },
  }
}
