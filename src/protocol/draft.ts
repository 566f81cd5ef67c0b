import type { Amount } from './amount.ts'
import type { EventType } from './rules.ts'
import type { Details } from './details.ts'
import type { Ms } from './moment.ts'
import type { ContestId } from './seq.ts'

/** What the platform hands to the door, after its grammar was checked and before it has a seq. */
export type Draft = Readonly<{
  /** The operator's own key, never published; null only in an import. */
  ref: string | null
  /** The moment of an imported draft; null when the door's clock decides. */
  atMs: Ms | null
  type: EventType
  kind: string
  contestId: ContestId | null
  kots: Amount | null
  tx: string | null
  /** Null when no detail was given. */
  details: Details | null
}>

/** Drafts one request may hold. */
export const DRAFTS_MAX = 10_000
/** Bytes of one publish request's body. */
export const PUBLISH_BYTES_MAX: number = 16 * 1024 * 1024
/** Characters of a ref. */
export const REF_CHARS_MAX = 128
export const TITLE_CHARS_MAX = 200
export const REASON_CHARS_MAX = 500
export const URL_CHARS_MAX = 2000
/** Plays that one event may stand for. */
export const COUNT_MAX = 1_000_000_000
/** Bytes of a details' line. */
export const DETAILS_LINE_BYTES_MAX: number = 16 * 1024
/** Bytes of one line of an import file or of NDJSON. */
export const DRAFT_LINE_BYTES_MAX: number = 64 * 1024
/** Levels of objects in a draft. */
export const DRAFT_DEPTH_MAX = 4

/** What became of one draft of a request. */
export type DraftReceipt = Readonly<{ ref: string; status: 'published' | 'duplicate' | 'held'; seq?: number }>
