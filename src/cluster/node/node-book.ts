import type { TableRow } from '../table/log-table.ts'

/** The newest row in the books: its place, 0 before the first, and the SHA-256 of its bytes. */
export type NewestRow = Readonly<{ place: number; digest: Uint8Array }>

/** The books of one node, as rows change them. Every call is synchronous, and may throw as the disk fails. */
export type NodeBook = Readonly<{
  applied(): NewestRow
  /** Opens the transaction in which a commit is built. */
  begin(): void
  /** Bytes of what was built since `begin`, for the next place. Null when nothing changed. */
  row(): Uint8Array | null
  /** Makes durable and visible what was built: signs the tree, keeps the bytes, commits. */
  commit(bytes: Uint8Array): void
  /** Undoes everything since `begin`. */
  rollback(): void
  /**
   * Applies the next rows in one transaction, `LOOK_ROWS_MAX` at most. Throws a `RowFault` for a row that does not
   * continue these books; then none is applied.
   */
  apply(rows: readonly TableRow[]): void
  /** The newest rows from a place on, in order, as many as are kept. */
  kept(from: number): readonly TableRow[]
  /** Whether the newest row says that the log was taken off its table (`cluster move --back`). */
  isEnded(): boolean
}>

/** A row that does not continue the books of this node. */
export class RowFault extends Error {
  override readonly name = 'RowFault'
  readonly place: number
  /** Whether a node of this log made it for this place, after another row than that of these books. */
  readonly isOfOtherBranch: boolean

  constructor(place: number, reason: string, isOfOtherBranch = false) {
    super(reason)
    this.place = place
    this.isOfOtherBranch = isOfOtherBranch
  }
}
