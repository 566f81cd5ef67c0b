import type { ListedKey, LogIdentity, MonthFile } from '../../log/store/reader.ts'
import type { Month, Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { type Hash, isSame } from '../../tlog/hash.ts'
import type { EndedDraft, HeldDraft } from '../../log/held/held-draft.ts'

/** Version of the rows that this Daybook writes, and the only one that it reads. */
export const ROW_VERSION = 1

/** Identity of a row: its log, and its place in the table, from 1. */
export type RowPlace = Readonly<{
  v: typeof ROW_VERSION
  logId: string
  place: number
  /** SHA-256 of all bytes of the previous row; zeros at place 1. */
  prev: Hash
}>

/** One commit of a log on a table, or a step of its operator. */
export type LogRow = RowPlace & RowBody

/** Content of a row. */
export type RowBody = BeginRow | CommitRow | KeysRow | EndRow

/** Row at place 1: an empty log. If the log had events before it was moved, they follow in commits. */
export type BeginRow = Readonly<{ is: 'begin'; identity: LogIdentity; keys: readonly ListedKey[] }>

/** Everything that one commit changes. */
export type CommitRow = Readonly<{
  is: 'commit'
  /** Seq of the first event; without events, the seq after the head. */
  first: number
  /** Root of the tree after the commit. */
  root: Hash
  /** The line of each event. */
  lines: readonly string[]
  /** The details line of each event, null without details. */
  details: readonly (string | null)[]
  /** The ref of each event, null in an import without refs. */
  refs: readonly (RowRef | null)[]
  held: readonly HeldChange[]
  /** Segments of month files that end in this commit, in order. */
  segments: readonly RowSegment[]
  /** Signatures of history that was moved to the table; null for a commit made on it. */
  moved: RowSignatures | null
}>

/** The operator's ref of a draft, and the digest of its content. */
export type RowRef = Readonly<{ ref: string; digest: Uint8Array }>

/**
 * Compressed bytes of a segment, which begin at the offset `start` of their month file. Empty bytes mean that the
 * segment does not fit its row; then each node stores it uncompressed (`storeSegment`).
 */
export type RowSegment = Readonly<{ month: Month; file: MonthFile; start: number; bytes: Uint8Array }>

/** Bytes of a segment that each node stores uncompressed. */
export const STORED_ROW_SEGMENT: Uint8Array = new Uint8Array(0)

/** Stored signatures of trees, by size, and the signed notes in the manifests of months that the commit closes. */
export type RowSignatures = Readonly<{
  signatures: readonly Readonly<{ size: number; bytes: Uint8Array }>[]
  notes: readonly Readonly<{ size: number; note: string }>[]
}>

/** Change of the signing keys, with all keys after it. A former key signs this row. */
type KeysRow = Readonly<{ is: 'keys'; head: number; keys: readonly ListedKey[] }>

/**
 * Last row: a node has taken the log off the table, and continues alone. The nonce is random. Without it, two nodes
 * would make the same row, and each would take it for its own.
 */
type EndRow = Readonly<{ is: 'end'; head: number; root: Hash; nonce: Hash }>

/** Reason why the row at a place of the table is not the expected one; null when it is. */
export function refusalOfRow(row: LogRow, place: number, want: RowPlace): string | null {
  if (place !== want.place) return `it is at place ${place}, and place ${want.place} is missing`
  if (row.logId !== want.logId) return 'it is of another log'
  if (row.place !== place) return `it was made for place ${row.place}`
  if (!isSame(row.prev, want.prev)) return `it does not follow the row at place ${place - 1} of this node`
  if ((row.is === 'begin') !== (place === 1)) return 'only the first row begins a log'
  return null
}

/** Whether a row was made for the expected place, but after another row than the known one. */
export function followsOther({ logId, place, prev }: LogRow, want: RowPlace): boolean {
  return logId === want.logId && place === want.place && !isSame(prev, want.prev)
}

/**
 * A change of the held drafts, as one node tells it to the others. Several drafts that change in the same way, one after
 * the other, are one change with all their ids.
 *
 * - `hold`: a draft is held.
 * - `change`: everything of held drafts that can change.
 * - `remove`: the drafts were published.
 * - `settle`: the drafts will never be published.
 * - `vouch`: the event was published on the operator's word.
 * - `chain`: the log is settled by the blockchain with this id, before its first settlement.
 */
export type HeldChange = Readonly<
  | { is: 'hold'; held: HeldDraft }
  | ({ is: 'change'; ids: readonly number[] } & Changeable)
  | { is: 'remove'; ids: readonly number[] }
  | ({ is: 'settle'; ids: readonly number[] } & SettledEnd)
  | { is: 'vouch'; seq: Seq; reason: string; at: Ms }
  | { is: 'chain'; id: string }
>

/** Everything of a held draft that can change. */
type Changeable = Pick<HeldDraft, 'chain' | 'place' | 'settledAt' | 'vouch' | 'reason'>

/** Facts that are kept about a draft that will never be published. */
type SettledEnd = Pick<EndedDraft, 'state' | 'settledAt' | 'place' | 'reason'>
