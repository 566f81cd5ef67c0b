import type { Amount } from './amount.ts'
import type { EventType } from './rules.ts'
import type { Details } from './details.ts'
import type { Ms } from './moment.ts'
import type { ContestId } from './seq.ts'

/** An event to publish, after the grammar check and before it has a seq. */
export type Draft = Readonly<{
  /** The operator's idempotency key, never published; null only in an import. */
  ref: string | null
  /** Moment of an imported draft; null to use the publisher's clock. */
  atMs: Ms | null
  type: EventType
  kind: string
  contestId: ContestId | null
  kots: Amount | null
  tx: string | null
  /** Null without any detail. */
  details: Details | null
}>

/** Drafts in one request at most. */
export const DRAFTS_MAX = 10_000
/** Bytes of the largest publish request. */
export const PUBLISH_BYTES_MAX: number = 16 * 1024 * 1024
/** Characters of the longest ref. */
export const REF_CHARS_MAX = 128
export const TITLE_CHARS_MAX = 200
export const REASON_CHARS_MAX = 500
export const URL_CHARS_MAX = 2000
/** Plays in one event at most. */
export const COUNT_MAX = 1_000_000_000
/** Bytes of the longest details line. */
export const DETAILS_LINE_BYTES_MAX: number = 16 * 1024
/** Bytes of the longest line of an import file or of NDJSON. */
export const DRAFT_LINE_BYTES_MAX: number = 64 * 1024
/** Nesting depth of a draft at most. */
export const DRAFT_DEPTH_MAX = 4

/**
 * Outcome of one draft in a request. `held`: it waits for the chain or for held drafts of its contest. `failed`,
 * `dropped`: it was held and will never be published. A seq comes with `published` and `duplicate`.
 */
export type DraftReceipt = Readonly<{
  ref: string
  status: 'published' | 'duplicate' | 'held' | 'failed' | 'dropped'
  seq?: number
}>
