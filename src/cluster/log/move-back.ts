import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { writeDurably } from '../../log/store/durable-rename.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { StoreError } from '../../log/store/store.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import { beginNewLog, newestCheckpoint } from '../../log/tree/ready-log.ts'
import { HASH_BYTES } from '../../tlog/hash.ts'
import { leaveTable } from '../book/moved-rows.ts'
import { openTableBook, type TableBook } from '../book/table-book.ts'
import type { ClusterNode } from '../node/cluster-node.ts'
import { openClusterNode } from '../node/open-node.ts'
import { digestOfRow } from '../row/row-frame.ts'
import { SILENCE_MS_MAX } from '../table/log-table.ts'
import { openLogTable } from '../table/open-table.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import { openEvidence } from './evidence-folder.ts'
import { type MoveSettings, openStore, optionsOf, refuseLack } from './move-log.ts'
import { readTablePlace } from '../row/kept-rows.ts'

/** Time in milliseconds within which this node must lead. It is longer than the settling time of a changed table. */
const LEAD_MS_MAX = 60_000
/** Time in which the lock of a dead leader becomes free. A node that has it longer is alive. */
const LED_MS_MAX: number = 2 * SILENCE_MS_MAX
const LOOK_MS = 50
/** File with the SHA-256 in hex of the last row that this node has sent to its table. */
const ENDING_FILE = 'ending'

/**
 * Takes a log off its table: the node leads, appends the last row, and has the log alone from then on. All other nodes
 * stop at that row. The same call completes an interrupted one. Returns the seq of the newest event. Throws a
 * StoreError.
 */
export async function moveBack(settings: MoveSettings): Promise<number> {
  const { dataDirectory, keys } = settings
  using db = openStore(dataDirectory)
  if (readTablePlace(db) === null) throw new StoreError('no table carries this log')
  const book = openTableBook({ db, keys, asksChain: false })
  if (!isEndedHere(book, dataDirectory)) {
    if (book.isEnded()) throw new StoreError(ENDED)
    await appendEnd(settings, db, book)
  }
  refuseLack(db, settings)
  // Before the place is removed, because a store without a place and a mark with one look like an older copy.
  const { log, checkpoint, former } = newestCheckpoint(db)
  markHighWater(dataDirectory, { log, checkpoint, former })
  leave(db, dataDirectory, () => undefined)
  return headOf(db)
}

/**
 * Takes this node's branch off a table that has another branch or is lost. It continues as a new log, because another
 * branch or lost newer events may have been shown under this one's name. Returns the seq of the newest event. Throws a
 * StoreError.
 */
export function leaveBranch(settings: MoveSettings): number {
  const { dataDirectory, keys } = settings
  using db = openStore(dataDirectory)
  if (readTablePlace(db) === null) throw new StoreError('no table carries this log')
  const mark = readHighWater(dataDirectory)
  const fault = faultAtStart(db, mark, keys)
  if (fault !== null && !fault.lost) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
  leave(db, dataDirectory, () => beginNewLog(db, mark, keys))
  return headOf(db)
}

const ENDED = 'another node has taken the log off the table: serve it from that one'

function leave(db: DatabaseSync, dataDirectory: string, change: () => void): void {
  openPrimaryFile(dataDirectory).forget()
  inTransaction(db, () => {
    change()
    leaveTable(db)
  })
  markHighWater(dataDirectory, newestCheckpoint(db))
  rmSync(join(dataDirectory, ENDING_FILE), { force: true })
}

/** Whether this node has appended the last row. */
function isEndedHere(book: TableBook, dataDirectory: string): boolean {
  const path = join(dataDirectory, ENDING_FILE)
  if (!book.isEnded() || !existsSync(path)) return false
  return readFileSync(path, 'utf8') === hexOf(book.applied().digest)
}

const hexOf = (digest: Uint8Array): string => Buffer.from(digest).toString('hex')

/** Leads the log, and appends its last row. */
async function appendEnd(settings: MoveSettings, db: DatabaseSync, book: TableBook): Promise<void> {
  const { dataDirectory, table, monotonicMs, sleep, signal } = settings
  const options = optionsOf(settings, db)
  await using node = openClusterNode({
    table: openLogTable(table.database, options),
    book: {
      ...book,
      row() {
        const bytes = book.row()
        if (bytes !== null)
          writeDurably(join(dataDirectory, ENDING_FILE), Buffer.from(hexOf(digestOfRow(bytes))))
        return bytes
      },
    },
    evidence: openEvidence(dataDirectory, options.logId),
    timers: { now: monotonicMs, sleep },
    primary: options.memory?.read() ?? null,
    accepts: () => !signal.aborted,
    mayRetry: () => false,
    onBooks: () => undefined,
    onNotice: () => undefined,
  })
  const endMs = monotonicMs() + LEAD_MS_MAX
  let ledMs = monotonicMs()
  while (!isEndedHere(book, dataDirectory)) {
    if (signal.aborted) throw new StoreError('stopped: the same command continues')
    const state = node.state()
    if (state.stopped !== null) throw new StoreError(book.isEnded() ? ENDED : state.stopped.reason)
    const nowMs = monotonicMs()
    if (!state.isLedElsewhere || state.away !== null) ledMs = nowMs
    if (nowMs > endMs || nowMs > ledMs + LED_MS_MAX)
      throw new StoreError(`this node does not come to lead: ${whyNot(state)}`)
    if (state.leads) {
      // Nobody could put back missing rows of this node after the last row.
      refuseLack(db, settings)
      await node.commit(() => book.build({ is: 'end', nonce: randomBytes(HASH_BYTES) }))
    } else await sleep(LOOK_MS, signal).catch(() => undefined)
  }
}

function whyNot({ away, isLedElsewhere, refusal }: ReturnType<ClusterNode['state']>): string {
  return isLedElsewhere && away === null
    ? 'another node leads; stop all others first'
    : (refusal ?? 'try again')
}
