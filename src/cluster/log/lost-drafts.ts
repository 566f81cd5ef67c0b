import type { DatabaseSync } from 'node:sqlite'
import { formatDraft, parseStoredDraft } from '../../log/held/held-draft.ts'
import { bytes, number, text } from '../../log/store/codec.ts'
import { openForReading, readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { seqOf } from '../../protocol/seq.ts'
import { draftDigest } from '../../publish/admission/grammar.ts'
import { forkedLogs, readEvidence } from './evidence-folder.ts'
import { entryOfRow } from '../../log/books/stored-repository.ts'
import type { CommitRow } from '../row/log-row.ts'
import { decodeRow } from '../row/row-frame.ts'
import type { Draft } from '../../protocol/draft.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/**
 * Draft of the lost branch that the log has too. `same`: with the same content. `wasDropped`: the log holds it, but the
 * operator dropped it in the lost branch.
 */
type PresentDraft = Readonly<{
  ref: string
  status: 'published' | 'held' | 'failed' | 'dropped'
  seq: number | null
  same: boolean
  wasDropped: boolean
}>

/** The drafts of a branch that lost a fork. */
export type LostDrafts = Readonly<{
  /** Drafts that the log lacks, as JSON for the publish API, in order of acceptance. */
  lost: readonly string[]
  present: readonly PresentDraft[]
  /** Number of drafts that failed or were dropped there. */
  ended: number
  /** Number of corrections and restatements of events that the log still lacks. They name an event by its seq. */
  waiting: number
  /** Whether the evidence begins where the branches parted. */
  isWhole: boolean
}>

/** Log in which a branch's drafts are looked up. */
type KnownDrafts = Readonly<{
  find(ref: string): (Omit<PresentDraft, 'same' | 'wasDropped'> & Readonly<{ digest: Uint8Array }>) | null
  /** Ref of the held draft with this number. */
  heldRef(id: number): string | null
  /** Whether the log has the events of a branch. */
  has(branch: BranchDrafts): boolean
}>

/**
 * Lists the accepted drafts of a branch that lost a fork, from the evidence of a data directory. A directory that has
 * left its table (`cluster move --back --accept-loss`) continues with its own branch, so its log lacks drafts of the
 * table. In any other directory the table lacks drafts of the directory's own branch. Throws a StoreError that says
 * what is missing.
 */
export function lostDrafts(dataDirectory: string): LostDrafts {
  const logs = forkedLogs(dataDirectory)
  if (logs.length === 0) throw new StoreError(NO_EVIDENCE)
  using db = openForReading(storePath(dataDirectory))
  const forks = logs.map((log) => lostInFork(db, dataDirectory, log))
  return {
    lost: forks.flatMap(({ lost }) => lost),
    present: forks.flatMap(({ present }) => present),
    ended: forks.reduce((sum, { ended }) => sum + ended, 0),
    waiting: forks.reduce((sum, { waiting }) => sum + waiting, 0),
    isWhole: forks.every(({ isWhole }) => isWhole),
  }
}

const NO_EVIDENCE =
  'this directory has no evidence of a fork: run this in the directory of a node that has stopped because of one'

function lostInFork(db: DatabaseSync, dataDirectory: string, logId: string): LostDrafts {
  const evidence = readEvidence(dataDirectory, logId)
  const ours = readBranchDrafts(evidence.ours)
  const table = readBranchDrafts(evidence.table)
  const { id, former } = readIdentity(db)
  const isOnTable = logId === id
  if (!isOnTable && !former.some((log) => log.id === logId))
    throw new StoreError(`the evidence of ${logId} is of another log than this directory`)
  if (table !== null && table.logId !== logId) throw new StoreError(OTHER_TABLE)
  const known = isOnTable ? branchKnown(table) : storeKnown(db)
  // A node that stopped because another had stopped has only one branch, without its beginning.
  const isOne = areSame(evidence.ours[0], evidence.table[0])
  const branch = isOnTable ? ours : table
  const found = branch === null || known.has(branch) ? NOTHING : sortDrafts(branch, known)
  return { ...found, isWhole: !isOne && (ours?.after ?? '') === (table?.after ?? ours?.after) }
}

const OTHER_TABLE =
  'the table had another log than this directory: give the node the address of the database that has its log'

const NOTHING = { lost: [], present: [], waiting: 0, ended: 0 } as const

const areSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one, other) === 0

type SortedDrafts = Omit<LostDrafts, 'isWhole'>

function sortDrafts({ drafts, ended, dropped, refs }: BranchDrafts, known: KnownDrafts): SortedDrafts {
  const lost: string[] = []
  const present: PresentDraft[] = dropped.flatMap((id) => {
    const ref = known.heldRef(id)
    return ref === null ? [] : [{ ref, status: 'held', seq: null, same: true, wasDropped: true }]
  })
  let waiting = 0
  let over = 0
  for (const one of drafts.values()) {
    const there = known.find(one.ref)
    if (there !== null) {
      const { digest, ...status } = there
      present.push({ ...status, same: Buffer.compare(digest, one.digest) === 0, wasDropped: false })
    } else if (ended.has(one.ref)) over += 1
    else {
      const json = formatLost(one, refs, known)
      if (json === null) waiting += 1
      else lost.push(json)
    }
  }
  return { lost, present, waiting, ended: over }
}

/** Detail fields that name an event by its seq. */
const SEQ_FIELDS = ['corrects', 'restates'] as const

/** JSON of a lost draft; null when it names a lost event that has no seq in the log yet. */
function formatLost({ draft }: BranchDraft, refs: BranchDrafts['refs'], known: KnownDrafts): string | null {
  if (draft.details === null) return formatDraft(draft)
  const details = { ...draft.details }
  for (const field of SEQ_FIELDS) {
    const named = details[field]
    const ref = named === undefined ? undefined : refs.get(named)
    if (ref === undefined) continue
    const seq = known.find(ref)?.seq ?? null
    if (seq === null) return null
    details[field] = seqOf(seq)
  }
  return formatDraft({ ...draft, details })
}

/** The other branch, as the evidence has it. */
function branchKnown(branch: BranchDrafts | null): KnownDrafts {
  return {
    find(ref) {
      const found = branch?.drafts.get(ref)
      if (found === undefined) return null
      const { digest, seq } = found
      const waits = branch?.ended.has(ref) === true ? 'dropped' : 'held'
      return { ref, status: seq === null ? waits : 'published', seq, digest }
    },
    heldRef: () => null,
    has: () => false,
  }
}

/** The log of the directory. */
function storeKnown(db: DatabaseSync): KnownDrafts {
  const published = db.prepare('SELECT seq, digest FROM refs WHERE ref = ?')
  const held = db.prepare(
    "SELECT draft, 'held' AS state FROM held WHERE ref = ?1 UNION ALL SELECT draft, state FROM settled WHERE ref = ?1",
  )
  const heldAt = db.prepare('SELECT ref FROM held WHERE id = ?')
  const lineAt = db.prepare('SELECT line FROM events WHERE seq = ?')
  const find: KnownDrafts['find'] = (ref) => {
    const event = published.get(ref)
    if (event !== undefined)
      return { ref, status: 'published', seq: number(event, 'seq'), digest: bytes(event, 'digest') }
    const waiting = held.get(ref)
    if (waiting === undefined) return null
    const digest = draftDigest(parseStoredDraft(text(waiting, 'draft'), ref))
    const state = text(waiting, 'state')
    return { ref, status: state === 'failed' || state === 'dropped' ? state : 'held', seq: null, digest }
  }
  return {
    find,
    heldRef(id) {
      const row = heldAt.get(id)
      return row === undefined ? null : text(row, 'ref')
    },
    has: ({ lines, drafts }) =>
      [...lines].every(([seq, line]) => lineAt.get(seq)?.['line'] === line) &&
      [...drafts.keys()].every((ref) => find(ref) !== null),
  }
}

/** Draft of one branch of a fork. `seq` is that of its event there; null when it was only held. */
type BranchDraft = Readonly<{ ref: string; draft: Draft; digest: Uint8Array; seq: number | null }>

/** Changes in one branch of a fork since the branches parted, as far as rows are kept. */
type BranchDrafts = Readonly<{
  logId: string
  /** Drafts by ref, in the order of their acceptance. */
  drafts: ReadonlyMap<string, BranchDraft>
  /** Refs of drafts that failed or were dropped there. */
  ended: ReadonlySet<string>
  /** Ids of drafts that were held before and dropped there. */
  dropped: readonly number[]
  /** Refs of the events by seq. */
  refs: ReadonlyMap<number, string>
  /** Lines of the events by seq. */
  lines: ReadonlyMap<number, string>
  /** Digest of the row before the first kept one, in hex. */
  after: string
}>

/** Reads the kept rows of a branch; null without any. Throws a StoreError for a damaged row. */
export function readBranchDrafts(rows: readonly Uint8Array[]): BranchDrafts | null {
  const drafts = new Map<string, BranchDraft>()
  const ended = new Set<string>()
  const refs = new Map<number, string>()
  const lines = new Map<number, string>()
  const held = new Map<number, string>()
  const dropped: number[] = []
  let first: Readonly<{ logId: string; after: string }> | null = null
  for (const stored of rows) {
    const decoded = decodeRow(stored)
    if (!decoded.ok) throw new StoreError(`a row of the evidence cannot be read: ${decoded.reason}`)
    const { row } = decoded.signed
    first ??= { logId: row.logId, after: Buffer.from(row.prev).toString('hex') }
    if (row.is !== 'commit') continue
    // A held draft may need an event of the same commit, but an event never needs a held draft.
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
