import type { HighWater } from '../../log/store/high-water.ts'
import { isPassingFault } from '../../log/store/sqlite-error.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import { type FailedOutcome, requestRefusal } from '../../publish/admission/outcome.ts'
import {
  COMMIT_BYTES,
  type CommitFailureSettings,
  type CommitPath,
  FULL,
  lacksRoom,
  UNAVAILABLE,
} from '../../publish/commit-path.ts'
import type { CarriedListeners, CarriedLog, CarrierContext } from '../../publish/writer/writer-log.ts'
import type { WriterSettings } from '../../publish/writer/writer-messages.ts'
import { openTableBook, type TableBook } from '../book/table-book.ts'
import type { ClusterNode, CommitAnswer, NodeBook, NodeNotice } from '../node/cluster-node.ts'
import { openClusterNode } from '../node/open-node.ts'
import { type LogTable, TableError } from '../table/log-table.ts'
import { openLogTable, type TableSettings } from '../table/open-table.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import type { ClusterFigures, ClusterNotice, ClusterReport } from './cluster-reports.ts'
import { openEvidence } from './evidence-folder.ts'
import { joinTable, openOwedTree, type OwedTree } from './join-table.ts'
import { KEYS_PATH, keysRequest } from './key-step.ts'

/** Time between two reports, and between two attempts to read the first row, in milliseconds. */
const REPORT_MS = 1_000

/** Settings of the writer's thread of a node whose log is on a table. */
export type ClusterSettings = Pick<WriterSettings, 'dataDirectory' | 'keys' | 'judge'> &
  Readonly<{ carrier: TableSettings }>

/**
 * Opens the log of a data directory. An empty directory joins it. `start` begins to follow the table and to lead it.
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

/** Refuses a damaged file of the newest primary early, while the start can still report it. */
function refuseDamagedPrimary(dataDirectory: string): void {
  try {
    openPrimaryFile(dataDirectory).read()
  } catch (error) {
    throw error instanceof TableError ? new StoreError(error.message, { cause: error }) : error
  }
}

/** Table of a log. Its id is empty before it is known; until then only rows may be read. */
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
      // Another program may have locked the store, or used the last file descriptor.
      return isFull || isPassingFault(error)
    },
  })
}

/** Notifies the listeners of each change of the books. */
function watchBooks(
  book: TableBook,
  served: OwedTree,
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

/** Notice without its error, which cannot be passed between threads. */
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
    /**
     * Whether the books have all events that this node has served. Another event at one of these seqs would be a fork.
     */
    hasServed(): boolean
  }>

/** Path of commits to the table, and the book that the node must use. */
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
          // The reason of a stop may include the stack of an error, which is for the operator's log.
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

/** Approximate most bytes that the store takes for each byte of a row. */
const STORE_GROWTH = 8

/** Refusal of a commit whose work failed and is undone. Only a full disk is temporary. */
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
