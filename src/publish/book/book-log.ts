import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../../log/append.ts'
import { openAppender } from '../../log/append.ts'
import type { HeldTables } from '../../log/held/held-tables.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import type { Commit } from '../../log/message/message.ts'
import type { Signer } from '../../log/tree/signer.ts'
import type { HeldDrafts } from '../held/held-drafts.ts'
import { openHeldDrafts } from '../held/held-drafts.ts'
import { bookTree } from './book-tree.ts'
import { followHeld } from './follow-held.ts'
import type { FollowedCommit } from './followed-commit.ts'
import { followCommit, followEvents, Unfitting } from './followed-commit.ts'
import type { GatheredCommit } from './gathered-commit.ts'
import { openGatheredCommit } from './gathered-commit.ts'
import { gatherHeld } from './gathered-held.ts'

/** The log and the held drafts of a store on an engine. Changes belong to one transaction, which the caller opens. */
export type BookLog = Readonly<{
  appender: Appender
  /** Held drafts whose changes are gathered. */
  held: HeldDrafts
  tables: HeldTables
  gathered: GatheredCommit
  head(): number
  root(): Uint8Array
  /** Applies a commit of another node, without admission, and signs its tree. Throws `Unfitting`. */
  follow(commit: Commit): void
  /** Signs the tree of all kept events, after its message was accepted. */
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
export function openBookLog(db: DatabaseSync, signer: () => Signer, asksChain: boolean): BookLog {
  const tables = openHeldTables(db)
  const drafts = openHeldDrafts(tables, asksChain)
  const held = gatherHeld(drafts)
  const gathered = openGatheredCommit(held)
  let followed: FollowedCommit | null = null
  /** Whether held drafts of other nodes were changed in this transaction. */
  let hasFollowed = false
  const head = (): number => plain.head().seq
  const tree = bookTree({ gathered, head, signer, followed: () => followed })
  const plain = openAppender(db, tree.signer, {
    openTree: tree.open,
    segmentOf: (...segment) => (followed ?? gathered).segmentOf(...segment),
  })

  function follow(commit: Commit): void {
    if (commit.first !== head() + 1)
      throw new Unfitting(`it begins with seq ${commit.first} after seq ${head()}`)
    followed = followCommit(commit)
    followEvents(plain, commit)
    plain.keep()
    followed.end()
    followed = null
    if (Buffer.compare(tree.tree().root(), commit.root) !== 0)
      throw new Unfitting('its root is not that of its events')
    hasFollowed ||= commit.held.length > 0
    for (const change of commit.held) {
      const fault = followHeld(drafts, change)
      if (fault !== null) throw new Unfitting(fault)
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
      db.exec('ROLLBACK')
      gathered.clear()
    },
  }
}

/** The appender, with its batches gathered. */
function gatheredAppender(appender: Appender, gathered: GatheredCommit): Appender {
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
