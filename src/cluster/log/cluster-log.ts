import { type HighWater, markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { isPassingFault } from '../../log/store/sqlite-error.ts'
import { hasStore, openForWriting, readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import type { WriterSettings } from '../../publish/writer/writer-messages.ts'
import { openTableBook, type TableBook } from '../book/table-book.ts'
import type { ClusterNode, CommitAnswer, NodeBook, NodeNotice } from '../node/cluster-node.ts'
import { openClusterNode } from '../node/open-node.ts'
import { type LogTable, ROW_BYTES_MAX, TableError, UNPROVED } from '../table/log-table.ts'
import { openLogTable, type TableSettings } from '../table/open-table.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import type { ClusterFigures, ClusterNotice, ClusterReport } from './cluster-reports.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { openEvidence } from './evidence-folder.ts'
import { KEYS_PATH, keysRequest } from './key-step.ts'
import { type FailedOutcome, requestRefusal } from '../../publish/admission/outcome.ts'
import {
  COMMIT_BYTES,
  type CommitFailureSettings,
  type CommitPath,
  FULL,
  lacksRoom,
  UNAVAILABLE,
} from '../../publish/commit-path.ts'
import type { DatabaseSync } from 'node:sqlite'
import { faultAtStart, type LogFault } from '../../log/tree/log-fault.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { createStoreFromRow } from '../row/begin-row.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import { readTablePlace } from '../row/kept-rows.ts'
import type { CarriedListeners, CarriedLog, CarrierContext } from '../../publish/writer/writer-log.ts'

/** Time between two reports, and between two attempts to read the first row, in milliseconds. */
const REPORT_MS = 1_000

/** Settings of the writer's thread of a node whose log is on a table. */
export type ClusterSettings = Pick<WriterSettings, 'dataDirectory' | 'keys' | 'judge'> &
  Readonly<{ carrier: TableSettings }>

/**
 * Opens the log of a data directory, which joins it when it is empty. `start` begins to follow the table and to lead it.
 * Throws a `StoreError` that says what is wrong.
 */
export async function openClusterLog(settings: ClusterSettings, world: CarrierContext): Promise<CarriedLog> {
  const { dataDirectory, keys } = settings
  refuseDamagedPrimary(dataDirectory)
  const send = (report: ClusterReport): void => world.report(report)
  const { db, owed } = await joinTable({
    dataDirectory,
    keys,
    open: () => tableOf(settings, world, ''),
    async wait(reason) {
      send({ is: 'notice', notice: { is: 'away', reason } })
      await world.sleep(REPORT_MS, world.signal)
    },
  })
  const book = openTableBook({ db, keys, asksChain: settings.judge !== null })
  const { id, former } = readIdentity(db)
  const served = openOwedTree(db, owed)
  let node: ClusterNode | null = null
  let reporting: NodeJS.Timeout | undefined
  const carried = openCarriedPath({ ...world, book, node: () => node, hasServed: served.isReached })
  const leads = (): boolean => node?.state().leads === true
  const mark = (): HighWater => ({
    log: id,
    checkpoint: book.checkpoint(),
    former,
    place: book.applied().place,
  })

  return {
    db,
    appender: book.appender,
    held: book.held,
    path: carried.path,
    steps: new Map([[KEYS_PATH, (request) => keysRequest({ db, book, path: carried.path, keys }, request)]]),
    mark: () => (served.isReached() ? mark() : null),
    start(listeners) {
      const accepts = (): boolean => world.accepts() && served.isReached()
      const onBooks = watchBooks(book, served, listeners)
      node = startNode(settings, world, {
        book: carried.book,
        logId: id,
        accepts,
        onBooks,
        onNotice(notice) {
          send({ is: 'notice', notice: noticeOf(notice) })
          if (notice.is === 'leads') listeners.queue.lead()
        },
      })
      const started = node
      reporting = setInterval(() => send({ is: 'figures', figures: figuresOf(started) }), REPORT_MS)
    },
    async barrier() {
      return node !== null && (await node.barrier()) ? book.appender.head().seq : null
    },
    leads,
    isPublishable: () => leads() && served.isReached(),
    async [Symbol.asyncDispose]() {
      clearInterval(reporting)
      await node?.[Symbol.asyncDispose]()
    },
  }
}

/** Refuses a damaged file of the newest primary while the start can still be refused with words. */
function refuseDamagedPrimary(dataDirectory: string): void {
  try {
    openPrimaryFile(dataDirectory).read()
  } catch (error) {
    throw error instanceof TableError ? new StoreError(error.message, { cause: error }) : error
  }
}

/** The table of a log. Its id is empty before it is known; then only rows may be read. */
function tableOf(
  { dataDirectory, carrier }: ClusterSettings,
  { nowMs, monotonicMs }: CarrierContext,
  logId: string,
): LogTable {
  const { database, isSingle } = carrier
  const memory = openPrimaryFile(dataDirectory)
  return openLogTable(database, { isSingle, logId, memory, nowMs, monotonicMs })
}

type NodeParts = Readonly<{
  book: NodeBook
  logId: string
  accepts(): boolean
  onBooks(change: 'committed' | 'applied' | 'undone'): void
  onNotice(notice: NodeNotice): void
}>

function startNode(settings: ClusterSettings, world: CarrierContext, parts: NodeParts): ClusterNode {
  const { dataDirectory } = settings
  const { isDiskFull, onFull, monotonicMs, sleep } = world
  return openClusterNode({
    ...parts,
    table: tableOf(settings, world, parts.logId),
    evidence: openEvidence(dataDirectory, parts.logId),
    timers: { now: monotonicMs, sleep },
    primary: openPrimaryFile(dataDirectory).read(),
    mayRetry(error) {
      const isFull = lacksRoom(error, COMMIT_BYTES, isDiskFull)
      if (isFull) onFull()
      // Another program may have locked the store, or taken the last file descriptor.
      return isFull || isPassingFault(error)
    },
  })
}

/** Notifies the listeners of each change of the books. */
function watchBooks(
  book: TableBook,
  served: ReturnType<typeof openOwedTree>,
  { queue, onHead, onOtherLog }: CarriedListeners,
): NodeParts['onBooks'] {
  let { seq } = book.appender.head()
  return (change) => {
    const head = book.appender.head()
    queue.changed(change)
    if (change === 'undone') return
    if (served.differs(head.seq, book.applied().place))
      return onOtherLog('the table has another log than this node has served')
    const followed = change === 'applied' ? head.seq - seq : 0
    seq = head.seq
    onHead(head, followed)
  }
}

/** The notice without an error, which cannot be passed between threads. */
function noticeOf(notice: NodeNotice): ClusterNotice {
  if (notice.is === 'local-failure') return { is: 'local-failure', reason: reasonOf(notice.error) }
  if (notice.is !== 'stopped') return notice
  const { is: why, place, reason } = notice.cause
  return { is: 'stopped', why, place, reason }
}

function figuresOf(node: ClusterNode): ClusterFigures {
  const { leads, end, last, away, stopped, offsetMs, unknownTotal, takeoverTotal, putBackTotal } =
    node.state()
  return {
    leads,
    lag: last - end.place,
    isAway: away !== null,
    isStopped: stopped !== null,
    offsetMs,
    unknownTotal,
    takeoverTotal,
    putBackTotal,
  }
}

type PathSettings = Pick<CommitFailureSettings, 'onFull' | 'onBroken' | 'isDiskFull'> &
  Readonly<{
    book: TableBook
    /** The node; null before its start. */
    node(): Pick<ClusterNode, 'commit'> | null
    /** Whether the books have all events that this node has served. Another event in such a place would be a fork. */
    hasServed(): boolean
  }>

/** The path of commits to the table, and the book that the node must use. */
type CarriedPath = Readonly<{ path: CommitPath; book: NodeBook }>

/** Opens the path of a log that a table carries. */
export function openCarriedPath(settings: PathSettings): CarriedPath {
  const { book } = settings
  let isOpen = false
  return {
    path: {
      ...book.room,
      isOpen: () => isOpen,
      async commit(size, build) {
        const node = settings.node()
        if (node === null || !settings.hasServed()) return requestRefusal('not-leading', LACKING)
        try {
          const answer = await node.commit(build)
          if (answer.is === 'committed') return { ok: true, built: answer.value }
          // The reason of a stop may have the stack of an error, which is for the operator's log.
          return requestRefusal(CODES[answer.is], answer.reason.replace(/\n[^]*/, ''))
        } catch (error) {
          return failureOf(settings, error, size)
        }
      },
    },
    book: {
      ...book,
      begin() {
        isOpen = true
        book.begin()
      },
      commit(bytes) {
        book.commit(bytes)
        isOpen = false
      },
      rollback() {
        isOpen = false
        book.rollback()
      },
    },
  }
}

const LACKING =
  'this node lacks events that it has served, and reads them from the table first; nothing was published'

const CODES: Readonly<Record<Exclude<CommitAnswer<unknown>['is'], 'committed'>, FailedOutcome['code']>> = {
  'not-leading': 'not-leading',
  unknown: 'outcome-unknown',
  clock: 'clock',
  stopped: 'store-unavailable',
}

/** Bytes that the store takes for each byte of a row, roughly and at most. */
const STORE_GROWTH = 8

/** Refusal of a commit whose work failed. It is undone. Only a full disk may pass. */
function failureOf(
  { isDiskFull, onFull, onBroken }: PathSettings,
  error: unknown,
  rowBytes: number,
): FailedOutcome {
  if (lacksRoom(error, COMMIT_BYTES + STORE_GROWTH * rowBytes, isDiskFull)) {
    onFull()
    return FULL
  }
  onBroken(new Error('a commit failed', { cause: error }))
  return UNAVAILABLE
}

type JoinSettings = Readonly<{
  dataDirectory: string
  keys: readonly SigningKey[]
  /** Opens the table of a log whose id is not known yet. */
  open(): LogTable
  /** Called after an attempt to read the first row that failed. Rejects when the node stops. */
  wait(reason: string): Promise<void>
}>

/** A store whose log is on a table. */
type JoinedStore = Readonly<{
  db: DatabaseSync
  /** High-water mark that the node must reach again; null when the store has all that it has served. */
  owed: HighWater | null
}>

/**
 * Opens the store of a node whose log is on a table. An empty directory gets the store of the log as its table begins.
 * Changes no identity, key or signature of a log. Throws a StoreError that says what is wrong.
 */
export async function joinTable(settings: JoinSettings): Promise<JoinedStore> {
  const { dataDirectory, keys } = settings
  const mark = readHighWater(dataDirectory)
  if (!hasStore(dataDirectory)) createStoreFromRow(storePath(dataDirectory), await firstRow(settings), keys)
  const db = openForWriting(storePath(dataDirectory))
  try {
    if (readTablePlace(db) === null) throw new StoreError(ALONE)
    const fault = faultAtStart(db, mark, keys)
    demandSound(fault)
    // The missing part comes from the table, and must be what was served.
    if (fault === null) markHighWater(dataDirectory, newestCheckpoint(db))
    return { db, owed: fault === null ? null : mark }
  } catch (error) {
    db.close()
    throw error
  }
}

const ALONE =
  'no table carries the log of this directory: move it there with daybook cluster move, or start with an empty directory'

/** Refuses a store with another fault than that its newest events are missing. */
function demandSound(fault: LogFault | null): void {
  if (fault !== null && !fault.lost) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
}

/** The first row of the log. Waits until the database answers. */
async function firstRow({ open, wait }: JoinSettings): Promise<Uint8Array> {
  await using table = open()
  for (;;) {
    let last = 0
    try {
      last = (await table.look(Number.MAX_SAFE_INTEGER, 1, 0)).last
      const { rows, isProved } = await table.look(1, ROW_BYTES_MAX, 0)
      if (rows[0] !== undefined) return rows[0].bytes
      if (isProved) throw new StoreError(NOTHING_THERE)
      await wait(UNPROVED)
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      // The table was read once, and then had no row 1.
      if (last > 0) throw new StoreError(NO_BEGINNING, { cause: error })
      await wait(error.message)
    }
  }
}

const NOTHING_THERE =
  'the table has no log yet: put one there with daybook cluster move, then start this node with an empty directory'

const NO_BEGINNING =
  'the oldest rows of the table were deleted: start this node from a backup of another one (daybook restore)'

/** The newest tree that a node has served, when its store lacks it: an older backup was restored. */
type OwedTree = Readonly<{
  /** Whether the store has it. Until then this node takes no drafts. */
  isReached(): boolean
  /** Whether the log with this head and place is another one than was served. Checked once, when the log is long enough. */
  differs(seq: number, place: number): boolean
}>

/** Opens the tree of a high-water mark; null when the store lacks nothing. */
function openOwedTree(db: DatabaseSync, mark: HighWater | null): OwedTree {
  const read = mark === null ? null : readCheckpoint(Buffer.from(mark.checkpoint))
  let owed = read !== null && read.ok ? read.value.checkpoint : null
  return {
    isReached: () => owed === null,
    differs(seq, place) {
      if (owed === null || seq < owed.size || place < (mark?.place ?? 0)) return false
      const { size, root } = owed
      owed = null
      return !isSame(openStoredTree(db).at(size).root, root)
    },
  }
}
