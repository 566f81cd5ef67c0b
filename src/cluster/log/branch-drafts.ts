import { entryOfRow } from '../../log/books/shelf.ts'
import type { CommitRow } from '../row/log-row.ts'
import { decodeRow } from '../row/row-frame.ts'
import { StoreError } from '../../log/store/store.ts'
import type { Draft } from '../../protocol/draft.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import { draftDigest } from '../../publish/admission/grammar.ts'

/** A draft of one branch of a fork. `seq` is that of its event there, null when it was only held. */
export type BranchDraft = Readonly<{ ref: string; draft: Draft; digest: Uint8Array; seq: number | null }>

/** Changes in one branch of a fork after the branches parted, as far as its kept rows say. */
export type BranchDrafts = Readonly<{
  logId: string
  /** Drafts by ref, in the order of their acceptance. */
  drafts: ReadonlyMap<string, BranchDraft>
  /** Refs of drafts that failed there, or that the operator dropped. */
  ended: ReadonlySet<string>
  /** Numbers of drafts that were held before, and that the operator dropped there. */
  dropped: readonly number[]
  /** Refs of the events by seq. */
  refs: ReadonlyMap<number, string>
  /** Lines of the events by seq. */
  lines: ReadonlyMap<number, string>
  /** Digest of the row before the first kept one, in hex. */
  after: string
}>

/** Reads the kept rows of a branch. Null without any. Throws a StoreError for one that is damaged. */
export function readBranchDrafts(rows: readonly Uint8Array[]): BranchDrafts | null {
  const drafts = new Map<string, BranchDraft>()
  const ended = new Set<string>()
  const refs = new Map<number, string>()
  const lines = new Map<number, string>()
  const held = new Map<number, string>()
  const dropped: number[] = []
  let first: Readonly<{ logId: string; after: string }> | null = null
  for (const bytes of rows) {
    const decoded = decodeRow(bytes)
    if (!decoded.ok) throw new StoreError(`a row of the evidence cannot be read: ${decoded.reason}`)
    const { row } = decoded.signed
    first ??= { logId: row.logId, after: Buffer.from(row.prev).toString('hex') }
    if (row.is !== 'commit') continue
    // A held draft may need an event of the same commit, and never the other way round.
    for (const published of tryEventsOf(row)) {
      const { ref, seq, line } = published
      lines.set(seq, line)
      refs.set(seq, ref)
      drafts.set(ref, { ...published, draft: drafts.get(ref)?.draft ?? published.draft })
    }
    for (const change of row.held) {
      if (change.is === 'hold') {
        const { id, ref, draft } = change.held
        held.set(id, ref)
        if (!drafts.has(ref)) drafts.set(ref, { ref, draft, digest: draftDigest(draft), seq: null })
      }
      if (change.is !== 'settle') continue
      for (const id of change.ids) {
        const ref = held.get(id)
        if (ref !== undefined) ended.add(ref)
        else if (change.state === 'dropped') dropped.push(id)
      }
    }
  }
  return first === null ? null : { ...first, drafts, ended, dropped, refs, lines }
}

type PublishedDraft = BranchDraft & Readonly<{ seq: number; line: string }>

function tryEventsOf(row: CommitRow): readonly PublishedDraft[] {
  try {
    return eventsOf(row)
  } catch (cause) {
    throw new StoreError(`a row of the evidence cannot be read: ${errorMessage(cause)}`, { cause })
  }
}

function eventsOf({ first, lines, details, refs }: CommitRow): readonly PublishedDraft[] {
  return lines.flatMap((line, index): readonly PublishedDraft[] => {
    const published = refs[index] ?? null
    if (published === null) return []
    const { event, details: more } = entryOfRow({ line, details: details[index] ?? null })
    const { type, kind, contestId, kots, tx } = event
    const { ref, digest } = published
    const draft: Draft = { ref, atMs: null, type, kind, contestId, kots, tx, details: more }
    return [{ ref, digest, seq: first + index, line, draft }]
  })
}
