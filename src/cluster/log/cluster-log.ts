import { databaseOf } from '../../database/sent-database.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import { isPassingFault } from '../../log/store/sqlite-error.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import { lacksRoom } from '../../publish/commits/commit-failure.ts'
import type { CarriedListeners, CarriedLog, CarriedWorld } from '../../publish/door/carried-log.ts'
import type { WriterSettings } from '../../publish/door/writer-messages.ts'
import { openTableBook, type TableBook } from '../book/table-book.ts'
import type { ClusterNode } from '../node/cluster-node.ts'
import type { NodeBook } from '../node/node-book.ts'
import type { NodeNotice } from '../node/node-settings.ts'
import { openClusterNode } from '../node/open-node.ts'
import { type LogTable, TableError } from '../table/log-table.ts'
import { openLogTable } from '../table/open-table.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import { openCarriedPath } from './carried-path.ts'
import { type ClusterNews, type ClusterReport, noticeOf } from './cluster-news.ts'
import { openEvidence } from './evidence-folder.ts'
import { joinTable } from './join-table.ts'
import { KEYS_PATH, keysRequest } from './key-step.ts'
import { openOwedTree } from './owed-tree.ts'
import type { TableSettings } from './table-settings.ts'

/** Time between two reports, and between two attempts to read the first row, in milliseconds. */
const REPORT_MS = 1_000

/** Settings of the writer's thread of a node whose log is on a table. */
export type ClusterSettings = Pick<WriterSettings, 'dataDirectory' | 'keys' | 'finality'> &
  Readonly<{ carrier: TableSettings }>

/**
 * Opens the log of a data directory, which joins it when it is empty. `start` begins to follow the table and to lead it.
 * Throws a `StoreError` that says what is wrong.
 */
export async function openClusterLog(settings: ClusterSettings, world: CarriedWorld): Promise<CarriedLog> {
  const { dataDirectory, keys } = settings
  refuseDamagedPrimary(dataDirectory)
  const tell = (news: ClusterNews): void => world.tell(news)
  const { db, owed } = await joinTable({
    dataDirectory,
    keys,
    open: () => tableOf(settings, world, ''),
    async wait(reason) {
      tell({ is: 'notice', notice: { is: 'away', reason } })
      await world.sleep(REPORT_MS, world.signal)
    },
  })
  const book = openTableBook({ db, keys, asksChain: settings.finality !== null })
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
    tables: book.tables,
    held: book.held,
    path: carried.path,
    steps: new Map([[KEYS_PATH, (request) => keysRequest({ db, book, path: carried.path, keys }, request)]]),
    mark: () => (served.isReached() ? mark() : null),
    start(listeners) {
      const accepts = (): boolean => world.accepts() && served.isReached()
      const onBooks = hearBooks(book, served, listeners)
      node = startNode(settings, world, {
        book: carried.book,
        logId: id,
        accepts,
        onBooks,
        onNotice(notice) {
          tell({ is: 'notice', notice: noticeOf(notice) })
          if (notice.is === 'leads') listeners.queue.lead()
        },
      })
      const started = node
      reporting = setInterval(() => tell({ is: 'report', report: reportOf(started) }), REPORT_MS)
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
  { nowMs, monotonicMs }: CarriedWorld,
  logId: string,
): LogTable {
  const { database, isSingle } = carrier
  const memory = openPrimaryFile(dataDirectory)
  return openLogTable(databaseOf(database), { isSingle, logId, memory, nowMs, monotonicMs })
}

type NodeParts = Readonly<{
  book: NodeBook
  logId: string
  accepts(): boolean
  onBooks(change: 'committed' | 'applied' | 'undone'): void
  onNotice(notice: NodeNotice): void
}>

function startNode(settings: ClusterSettings, world: CarriedWorld, parts: NodeParts): ClusterNode {
  const { dataDirectory } = settings
  const { isDiskFull, onFull, monotonicMs, sleep } = world
  return openClusterNode({
    ...parts,
    table: tableOf(settings, world, parts.logId),
    evidence: openEvidence(dataDirectory, parts.logId),
    timers: { now: monotonicMs, sleep },
    primary: openPrimaryFile(dataDirectory).read(),
    mayRetry(error) {
      const isFull = lacksRoom(error, 0, isDiskFull)
      if (isFull) onFull()
      // Another program may have locked the store, or taken the last file descriptor.
      return isFull || isPassingFault(error)
    },
  })
}

/** Tells the listeners of each change of the books. */
function hearBooks(
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

function reportOf(node: ClusterNode): ClusterReport {
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
