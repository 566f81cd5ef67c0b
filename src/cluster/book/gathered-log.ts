import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../../log/append.ts'
import { type HeldTables, openHeldTables } from '../../log/held/held-tables.ts'
import type { CommitRow } from '../row/log-row.ts'
import type { Signer } from '../../log/tree/signer.ts'
import { type HeldDrafts, openHeldDrafts } from '../../publish/held/held-drafts.ts'
import { openAcceptedTree } from './accepted-tree.ts'
import { applyHeld } from './apply-held.ts'
import { type FollowedRow, followLines, followRow, UnfitRow } from './followed-row.ts'
import { type CommitGathering, openCommitGathering } from './commit-gathering.ts'
import { gatherHeldDrafts } from './held-gathering.ts'

/** The log and the held drafts of a store on a table. Changes belong to one transaction, which the caller opens. */
export type GatheredLog = Readonly<{
  appender: Appender
  /** Held drafts whose changes are gathered. */
  held: HeldDrafts
  tables: HeldTables
  gathered: CommitGathering
  head(): number
  root(): Uint8Array
  /** Applies a commit of another node, without admission, and signs its tree. Throws `UnfitRow`. */
  follow(commit: CommitRow): void
  /** Signs the tree of all kept events, after its row was accepted. */
  accept(): void
  /** Writes what is cached and commits. */
  commit(): void
  /** The signed note of the newest tree; null while this process has signed none. */
  checkpoint(): string | null
  /** Reads the tree again, whose newest signature has changed. */
  resign(): void
  /** Undoes the transaction. */
  rollback(): void
  /** Ends a transaction in which nothing was kept. */
  leave(): void
}>

/** Opens the log. `signer` is asked for at each signature, because the keys may change. */
export function openGatheredLog(db: DatabaseSync, signer: () => Signer, asksChain: boolean): GatheredLog {
  const tables = openHeldTables(db)
  const drafts = openHeldDrafts(tables, asksChain)
  const held = gatherHeldDrafts(drafts)
  const gathered = openCommitGathering(held)
  let followed: FollowedRow | null = null
  /** Whether held drafts of other nodes were changed in this transaction. */
  let hasFollowed = false
  const head = (): number => plain.head().seq
  const tree = openAcceptedTree({ gathered, head, signer, followed: () => followed })
  const plain = openAppender(db, tree.signer, {
    openTree: tree.open,
    segmentOf: (...segment) => (followed ?? gathered).segmentOf(...segment),
  })

  function follow(commit: CommitRow): void {
    if (commit.first !== head() + 1)
      throw new UnfitRow(`it begins with seq ${commit.first} after seq ${head()}`)
    followed = followRow(commit)
    followLines(plain, commit)
    plain.keep()
    followed.end()
    followed = null
    if (Buffer.compare(tree.tree().root(), commit.root) !== 0)
      throw new UnfitRow('its root is not that of its events')
    hasFollowed ||= commit.held.length > 0
    for (const change of commit.held) {
      const fault = applyHeld(drafts, change)
      if (fault !== null) throw new UnfitRow(fault)
    }
    if (commit.moved === null) tree.accept(head())
    else tree.reload(head())
  }

  return {
    appender: gatheredAppender(plain, gathered),
    held: held.drafts,
    tables,
    gathered,
    head,
    follow,
    checkpoint: tree.note,
    root: () => tree.tree().root(),
    accept: () => tree.accept(head()),
    resign: () => tree.reload(head()),
    commit() {
      plain.commit()
      gathered.clear()
      hasFollowed = false
    },
    rollback() {
      followed = null
      plain.rollback()
      held.undo()
      if (hasFollowed) drafts.reload()
      hasFollowed = false
      gathered.clear()
    },
    leave() {
      if (db.isTransaction) db.exec('ROLLBACK')
      gathered.clear()
    },
  }
}

/** The appender, with its batches gathered. */
function gatheredAppender(appender: Appender, gathered: CommitGathering): Appender {
  return {
    ...appender,
    append(draft, ref, atMs) {
      const event = appender.append(draft, ref, atMs)
      gathered.ref(ref)
      return event
    },
    keep() {
      appender.keep()
      gathered.keep()
    },
    drop() {
      appender.drop()
      gathered.drop()
    },
  }
}
