import type { Coding } from './coding.ts'
import type { RequestTally } from '../metrics/request-tally.ts'

/** An answer that never changes, as it is written: its headers one after the other, name and value, and its body. */
export type ReadyReply = Readonly<{
  tally: RequestTally
  etag: string | null
  headers: string[]
  /** The headers of the 304 in its place. */
  unchanged: string[]
  body: ReplyBody
}>

/** Bytes, or a short body's bytes as the characters of a string: then head and body leave in one piece. */
export type ReplyBody = Uint8Array | string

/** From there, copying a body costs more than writing it apart from its head. */
const STRING_BYTES_MAX = 4 * 1024

/** The body as it is written at the least cost, with `BODY_ENCODING`. */
export function bodyOf(bytes: Uint8Array): ReplyBody {
  if (bytes.byteLength > STRING_BYTES_MAX) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(BODY_ENCODING)
}

/** Makes a character of every byte and the same byte of every character. */
export const BODY_ENCODING = 'latin1'

/** The coding of a body; `any` where it is the same whatever a caller accepts. */
export type FormOf = Coding | 'identity' | 'any'

/** Answers that never change and were given lately, by what stands in the request: a path with its query. */
export type ReadyReplies = Readonly<{
  get(target: string): Forms | undefined
  set(target: string, form: FormOf, reply: ReadyReply): void
}>

export type Forms = ReadonlyMap<FormOf, ReadyReply>

/** Bytes of a larger answer are not held: few ask for it, and it would push out what many ask for. */
const REPLY_BYTES_MAX = 1024 * 1024
/** What an entry takes beside its body: two lists of headers and its place. */
const ENTRY_BYTES = 1_024

/**
 * Holds the answers used last within `bytesMax`. Of two generations the older is forgotten when the younger has half
 * of that: an answer that is used moves to the younger one, and nothing is put in order at each use.
 */
export function openReadyReplies(bytesMax: number = 32 * 1024 * 1024): ReadyReplies {
  type Entry = { forms: Map<FormOf, ReadyReply>; bytes: number }
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let youngBytes = 0

  function keep(target: string, entry: Entry): void {
    if (youngBytes + entry.bytes > bytesMax / 2) {
      old = young
      young = new Map()
      youngBytes = 0
    }
    young.set(target, entry)
    youngBytes += entry.bytes
  }

  function find(target: string): Entry | undefined {
    const known = young.get(target)
    if (known !== undefined) return known
    const older = old.get(target)
    if (older === undefined) return undefined
    old.delete(target)
    keep(target, older)
    return older
  }

  return {
    get: (target) => find(target)?.forms,
    set(target, form, reply) {
      const bytes = ENTRY_BYTES + reply.body.length
      if (bytes > Math.min(REPLY_BYTES_MAX, bytesMax / 4)) return
      const entry = find(target) ?? { forms: new Map<FormOf, ReadyReply>(), bytes: 0 }
      if (entry.forms.has(form)) return
      // Counted anew with the form that it has gained.
      if (young.delete(target)) youngBytes -= entry.bytes
      entry.forms.set(form, reply)
      entry.bytes += bytes
      keep(target, entry)
    },
  }
}
