/** A writer tells the others how far it is. It is JSON, and travels with a signature (`sealMark`). */
export type WriterMark = Readonly<{
  v: 1
  /** Name of the writer's node, and a random name of its run. */
  node: string
  run: string
  /** Number of this mark in its run: a mark that was heard is not heard again. */
  number: number
  /** When it was told and when its run began: milliseconds since 1970, by the engine's clock. */
  atMs: number
  sinceMs: number
  logId: string
  stream: number
  /** Digest of the first message of its stream (SHA-256, base64url); absent or null when it is not known. */
  begin?: string | null
  /** Place and digest (SHA-256, base64url) of the newest message in its books. */
  place: number
  digest: string
  /** Events of its log, and their root (base64url). */
  seq: number
  root: string
  program: string
  /** Versions of frames that it can read. */
  frames: readonly number[]
  /** Ids of the keys that it holds. */
  keys: readonly string[]
  /** Settings that must be the same on all writers, as text. */
  rules: string
  /** Reason why it does work of its own accord: it made the newest message, or nobody else does. Null: it does not. */
  leads: 'newest' | 'silence' | null
  /** It asks the others for their marks: a name of the question, which no other has. Null: it asks nothing. */
  asks: string | null
  /** Questions that it heard since its last mark. */
  answers: readonly string[]
  /** It has just lost a place to another writer. */
  contends: boolean
  /** Reason why it has stopped; null while it runs. */
  stopped: string | null
}>

/** Most bytes of a mark. With its signature it fits a NOTIFY of PostgreSQL. */
const MARK_BYTES_MAX = 4000
const TEXT_MAX = 200
/** Most members of a list. */
export const LIST_MAX = 20

export function formatMark(mark: WriterMark): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(mark))
}

/** Reads a mark. Null for anything else, also for a mark of a later program that this one does not know. */
export function parseMark(bytes: Uint8Array): WriterMark | null {
  if (bytes.length > MARK_BYTES_MAX) return null
  try {
    const of: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return isMark(of) ? of : null
  } catch {
    return null
  }
}

/** Whether a mark is of the stream with this number and beginning. A log that was moved again has another stream 1. */
export function isOfStream(
  { stream, begin }: Pick<WriterMark, 'stream' | 'begin'>,
  own: Readonly<{ stream: number; begin: string | null }>,
): boolean {
  return stream === own.stream && (own.begin === null || (begin ?? own.begin) === own.begin)
}

const isText = (of: unknown): of is string => typeof of === 'string' && of.length <= TEXT_MAX
const isCount = (of: unknown): of is number => Number.isSafeInteger(of) && Number(of) >= 0
const isFlag = (of: unknown): of is boolean => typeof of === 'boolean'
const isListOf = (of: unknown, is: (member: unknown) => boolean): boolean =>
  Array.isArray(of) && of.length <= LIST_MAX && of.every(is)

/** Check of each member of a mark. */
const MEMBERS: Readonly<Record<keyof WriterMark, (of: unknown) => boolean>> = {
  v: (of) => of === 1,
  node: (of) => isText(of) && of !== '',
  run: isText,
  number: isCount,
  atMs: isCount,
  sinceMs: isCount,
  logId: isText,
  stream: isCount,
  begin: (of) => of === undefined || of === null || isText(of),
  place: isCount,
  digest: isText,
  seq: isCount,
  root: isText,
  program: isText,
  frames: (of) => isListOf(of, isCount),
  keys: (of) => isListOf(of, isText),
  rules: isText,
  leads: (of) => of === null || of === 'newest' || of === 'silence',
  asks: (of) => of === null || isText(of),
  answers: (of) => isListOf(of, isText),
  contends: isFlag,
  stopped: (of) => of === null || isText(of),
}

function isMark(of: unknown): of is WriterMark {
  if (typeof of !== 'object' || of === null) return false
  return Object.entries(MEMBERS).every(([name, is]) => is(Reflect.get(of, name)))
}
