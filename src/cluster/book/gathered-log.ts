import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../../log/append.ts'
import {
  type CommitRow,
  type HeldChange,
  type RowRef,
  type RowSegment,
  STORED_ROW_SEGMENT,
} from '../row/log-row.ts'
import type { Signer } from '../../log/tree/signer.ts'
import { type HeldDrafts, openHeldDrafts } from '../../publish/held-drafts.ts'
import { type FollowedRow, followLines, followRow, UnfitRow } from './followed-row.ts'
import { gatherHeldDrafts, type HeldGathering } from './held-gathering.ts'
import { openTreeWriter, type TreeWriter } from '../../log/tree/tree-writer.ts'
import { assert } from '../../protocol/brand.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { deflateSegment, storeSegment } from '../../log/archive/gzip-member.ts'
import { bytesOfEvent, bytesOfRef, ROW_CHANGES_BYTES_MAX, SEGMENT_SPARE_BYTES } from './row-room.ts'

/** Log and held drafts of a store on a table. Changes belong to one transaction, which the caller opens. */
export type GatheredLog = Readonly<{
  appender: Appender
  /** Held drafts whose changes are gathered. */
  held: HeldDrafts
  gathered: CommitGathering
  head(): number
  root(): Uint8Array
  /** Applies another node's commit without admission, and signs its tree. Throws `UnfitRow`. */
  follow(commit: CommitRow): void
  /** Signs the tree of all kept events, after its row was accepted. */
  accept(): void
  /** Writes the cached rows and commits. */
  commit(): void
  /** Signed note of the newest tree; null while this process has signed none. */
  checkpoint(): string | null
  /** Reads the tree again, whose newest signature has changed. */
  resign(): void
  /** Undoes the transaction. */
  rollback(): void
  /** Ends a transaction in which nothing was kept. */
  leave(): void
}>

/** Opens the log. `signer` is called for each signature, because the keys may change. */
export function openGatheredLog(db: DatabaseSync, signer: () => Signer, asksChain: boolean): GatheredLog {
  const drafts = openHeldDrafts(db, asksChain)
  const held = gatherHeldDrafts(drafts)
  const gathered = openCommitGathering(held)
  let followed: FollowedRow | null = null
  /** Whether another node's held drafts were changed in this transaction. */
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
    plain.write()
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
      held.drafts.forget()
      if (hasFollowed || held.bytes() > 0) drafts.reload()
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
    write() {
      appender.write()
      gathered.write()
    },
    forget() {
      appender.forget()
      gathered.forget()
    },
  }
}

/** Tree of a log on a table, with its signer. It signs only trees that the table has accepted. */
type AcceptedTree = Readonly<{
  open: typeof openTreeWriter
  signer: Signer
  tree(): TreeWriter
  /** Signs the tree of this size, after its row was accepted. */
  accept(size: number): void
  /** Reads the tree again, with as many leaves as the table has accepted. */
  reload(size: number): void
  /** Signed note of the newest tree; null while this process has not signed it. */
  note(): string | null
}>

type TreeSettings = Readonly<{
  /** Gathers the lines of a commit that is built. */
  gathered: CommitGathering
  /** Another node's commit that is being applied; null while one is built. */
  followed(): FollowedRow | null
  head(): number
  /** The signer of the log. Its keys may change. */
  signer(): Signer
}>

function openAcceptedTree({ gathered, followed, head, signer }: TreeSettings): AcceptedTree {
  let opened: TreeWriter | undefined
  let accepted = 0
  let isNoted = false

  const tree = (): TreeWriter => {
    assert(opened !== undefined, 'the appender has opened its tree')
    return opened
  }
  const guarded: Signer = {
    sign(of) {
      // A month that ends in moved history has a note. Any other month ended with an accepted commit.
      const note = followed()?.noteAt(of.size)
      if (note !== undefined) return { signature: new Uint8Array(0), note }
      assert(of.size <= accepted, `a tree of ${of.size} leaves is signed only after it was accepted`)
      return signer().sign(of)
    },
  }

  function reload(size: number): void {
    accepted = size
    tree().reload(size)
    isNoted = false
  }

  return {
    signer: guarded,
    tree,
    open(db, _signer, size) {
      const own = openTreeWriter(db, guarded, size)
      opened = own
      accepted = size
      return {
        ...own,
        reload,
        add(line, details) {
          const added = own.add(line, details)
          const commit = followed()
          if (commit !== null) return { ...added, signature: commit.signatureAt(head() + 1) }
          gathered.lines(line, details)
          return added
        },
      }
    },
    accept(size) {
      if (size === accepted) return
      accepted = size
      tree().sign(size)
      isNoted = true
    },
    reload,
    note: () => (isNoted ? tree().checkpoint() : null),
  }
}

/** Applies another node's change of held drafts. Returns why it does not fit; null when it is applied. */
function applyHeld(held: HeldDrafts, change: HeldChange): string | null {
  switch (change.is) {
    case 'hold': {
      const { id, ref } = change.held
      if (held.find(ref) !== undefined || held.numbered(id) !== undefined)
        return 'it holds a draft that is held'
      held.add(change.held)
      return null
    }
    case 'change': {
      const { chain, place, settledAt, vouch, reason } = change
      return each(held, change.ids, (draft) =>
        held.change({ ...draft, chain, place, settledAt, vouch, reason }),
      )
    }
    case 'remove':
      return each(held, change.ids, held.remove)
    case 'settle': {
      const { state, settledAt, place, reason } = change
      return each(held, change.ids, (draft) => held.end(draft, { state, settledAt, place, reason }))
    }
    case 'vouch':
      held.vouch(change.seq, change.reason, change.at)
      return null
    case 'chain':
      if (held.chain() !== null) return 'it names the chain of the log again'
      held.keepChain(change.id)
      return null
  }
}

function each(held: HeldDrafts, ids: readonly number[], make: (draft: HeldDraft) => void): string | null {
  for (const id of ids) {
    const draft = held.numbered(id)
    if (draft === undefined) return 'it changes a draft that is not held'
    make(draft)
  }
  return null
}

/** Changes of a commit while it is built: kept events, held drafts, and segments. */
type CommitGathering = Readonly<{
  /** Adds the lines of the next event. Its ref is added next. */
  lines(line: string, details: string | null): void
  ref(ref: RowRef | null): void
  /** Keeps the added events, or discards them. */
  write(): void
  forget(): void
  /** Compresses a segment, and adds it to the commit. */
  segmentOf: SegmentOf
  /** Content of the commit; null when nothing was kept. */
  commit(): Pick<CommitRow, 'lines' | 'details' | 'refs' | 'held' | 'segments'> | null
  /** Bytes left in the row of the commit, without reserved ones. */
  bytesLeft(): number
  /** Reserves bytes for the rest of the commit, in place of the former reservation. */
  reserve(bytes: number): void
  clear(): void
}>

/** Lines and refs of events. */
type Events = Readonly<{ lines: string[]; details: (string | null)[]; refs: (RowRef | null)[] }>

function openCommitGathering(held: HeldGathering): CommitGathering {
  let kept = noEvents()
  let unwritten = noEvents()
  let segments: RowSegment[] = []
  let bytes = 0
  let unwrittenBytes = 0
  let reserved = 0

  function write(): void {
    for (const line of unwritten.lines) kept.lines.push(line)
    for (const line of unwritten.details) kept.details.push(line)
    for (const ref of unwritten.refs) kept.refs.push(ref)
    bytes += unwrittenBytes
    forget()
  }

  function forget(): void {
    unwritten = noEvents()
    unwrittenBytes = 0
  }

  const bytesLeft = (): number => ROW_CHANGES_BYTES_MAX - bytes - unwrittenBytes - held.bytes() - reserved

  return {
    lines(line, details) {
      unwritten.lines.push(line)
      unwritten.details.push(details)
      unwrittenBytes += bytesOfEvent(line, details)
    },
    ref(ref) {
      unwritten.refs.push(ref)
      unwrittenBytes += bytesOfRef(ref)
    },
    write,
    forget,
    segmentOf({ month, file, start }, raw) {
      // Segments are made before the batch is kept, and the batch needs its room first.
      write()
      const deflated = deflateSegment(raw)
      const fits = deflated.length + SEGMENT_SPARE_BYTES <= bytesLeft()
      segments.push({ month, file, start, bytes: fits ? deflated : STORED_ROW_SEGMENT })
      if (fits) bytes += deflated.length
      return fits ? deflated : storeSegment(raw)
    },
    commit() {
      const { lines, details, refs } = kept
      if (lines.length === 0 && held.bytes() === 0) return null
      assert(refs.length === lines.length, 'each gathered event has its ref')
      return { lines, details, refs, held: held.changes(), segments }
    },
    bytesLeft,
    reserve: (size) => void (reserved = size),
    clear() {
      kept = noEvents()
      forget()
      segments = []
      bytes = reserved = 0
      held.clear()
    },
  }
}

function noEvents(): Events {
  return { lines: [], details: [], refs: [] }
}
