import type { EngineMessage } from '../../engine/log-engine.ts'

/** The newest message in the books: its place, 0 before the first, and the SHA-256 of its bytes. */
export type BookEnd = Readonly<{ place: number; digest: Uint8Array }>

/** The books of one node, as messages change them. Every call is synchronous, and may fail as the disk fails. */
export type Book = Readonly<{
  applied(): BookEnd
  /** SHA-256 of the first message of the stream; null when it is not known, or when there is none. */
  beginning(): Uint8Array | null
  /** Notes that digest, when the newest message in the books is of the stream with that first message. */
  learnBeginning(digest: Uint8Array): void
  /** Opens the transaction in which a commit is built. */
  begin(): void
  /** Bytes of what was built since `begin`, for the next place. Null when nothing changed. */
  message(): Uint8Array | null
  /** Makes durable and visible what was built: signs the tree, keeps the bytes, commits. */
  commit(bytes: Uint8Array): void
  /** Undoes everything since `begin`. */
  rollback(): void
  /**
   * Applies the next messages in one transaction, up to `APPLIED_MESSAGES_MAX`. Throws a `MessageFault` for a message
   * that does not continue these books; then none is applied.
   */
  apply(messages: readonly EngineMessage[]): void
  /** The newest messages from a place on, in order, as many as are kept. */
  kept(from: number): readonly EngineMessage[]
}>

/** Most messages that one transaction applies. */
export const APPLIED_MESSAGES_MAX = 256

/** A message that does not continue the books of this node. */
export class MessageFault extends Error {
  override readonly name = 'MessageFault'
  readonly place: number
  /** Whether a writer of this log made it for this place, after another message than that of these books. */
  readonly isOfOtherBranch: boolean

  constructor(place: number, reason: string, isOfOtherBranch = false) {
    super(reason)
    this.place = place
    this.isOfOtherBranch = isOfOtherBranch
  }
}
