import { once } from 'node:events'
import type { Server } from 'node:http'
import type { MessagePort } from 'node:worker_threads'
import { outsideReason } from '../../log/outside-reason.ts'
import { isDiskFull } from '../../log/store/disk-probe.ts'
import { openHighWater } from '../../log/store/high-water.ts'
import { isOfMachine } from '../../log/store/sqlite-error.ts'
import { readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { assert } from '../../protocol/brand.ts'
import { errorMessage, reasonOf } from '../../protocol/error-reason.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { closeListener } from '../api/listener-limits.ts'
import { openOperations } from '../api/operations.ts'
import { createPublishApi, type PublishApiSettings, type PublishOutcome } from '../api/publish-api.ts'
import type { PublishApiReport } from '../api/publish-replies.ts'
import { openCommitQueue } from '../commit-queue.ts'
import { type JudgeContext, type OpenTxJudge, type TxJudge, WriterRefusal } from '../tx-judge.ts'
import { type ClockGuard, openClockGuard } from './clock-guard.ts'
import { openSharedClock } from './shared-clock.ts'
import {
  type CarriedLog,
  filesHeldOpen,
  type OpenCarriedLog,
  openOwnLog,
  type WriterLog,
  type WriterTime,
} from './writer-log.ts'
import { openThreadLink } from '../thread-link.ts'
import type { FromWriter, SendMain, ToWriter, WriterPart, WriterSettings } from './writer-messages.ts'
import { openWriterState } from './writer-state.ts'
import { openHeadCell } from '../../log/head-cell.ts'

/** Grace period in milliseconds for requests in progress when the writer closes. */
const CLOSE_MS = 5_000
/** Number of prefixes of request ids, so large that two starts rarely share one. */
const REQUEST_PREFIXES = 2 ** 32

/**
 * Runs the writer's thread, which has the only writing connection to the store and the private listener. An fsync here
 * delays only publishers. `openCarried` opens a log that other machines carry; null for a log of this node alone.
 */
export async function runWriter(
  port: MessagePort,
  settings: WriterSettings,
  time: WriterTime,
  openCarried: OpenCarriedLog | null = null,
): Promise<void> {
  const { dataDirectory, judge: judging } = settings
  let log: WriterLog | null = null
  let carried: CarriedLog | null = null
  let server: Server | null = null
  const { send, askWithin } = openThreadLink<{ sent: FromWriter; received: ToWriter }>(port, {
    barrier: async () => (await carried?.barrier().catch(() => null)) ?? null,
    stop: () => state.stop(),
    close() {
      state.stop()
      if (server !== null) void closeListener(server, CLOSE_MS)
    },
  })
  const clock = openClock(settings, time, send, () => log?.appender.head().atMs ?? null)
  const state = openWriterState(dataDirectory, clock.guard, send)
  time.onUnhandled((error) => {
    state.breakDown(`a failure in the writer's thread that nothing waited for: ${reasonOf(error)}`)
  })
  const failures = {
    isDiskFull: (bytes: number) => isDiskFull(dataDirectory, bytes),
    onFull: state.full,
    onBroken: (error: Error) => state.breakDown(`${error.message}: ${errorMessage(error.cause)}`),
  }

  /** Reports why the writer does not start, unless it was stopped before. Throws bugs. */
  function refuse(error: unknown): void {
    if (state.isStopping()) return
    const isOfTable = openCarried !== null && error instanceof StoreError && !isOfMachine(error.cause)
    if (error instanceof WriterRefusal || isOfTable) return send('refused', error.message)
    const reason = outsideReason(error)
    if (reason === undefined) throw error
    send('unusable', reason)
  }

  try {
    const context = { ...time, ...failures, signal: state.stopped, accepts: state.accepting }
    carried = (await openCarried?.(settings, { ...context, report: (news) => send('carrier', news) })) ?? null
    log = carried ?? openOwnLog(settings)
  } catch (error) {
    refuse(error)
    return port.close()
  }
  const { db, appender, held, path, mark } = log
  using highWater = openHighWater(dataDirectory)
  state.watch(filesHeldOpen(dataDirectory), storePath(dataDirectory))
  // A crash may follow a commit before its head was seen, so the store has the head.
  const head = openHeadCell(settings.head)
  head.move(appender.head().seq)

  /** Writes the high-water mark, unless the node has served a larger tree. A crash before leaves an older mark. */
  function writeMark(): void {
    const newest = mark()
    if (newest !== null) highWater.write(newest)
  }

  const queue = openCommitQueue({
    ...failures,
    appender,
    held,
    ...(path !== undefined && { path }),
    balances: settings.balances,
    now: clock.now,
    refusal: state.refusal,
    monotonicMs: time.monotonicMs,
    // The head of a carried log moves at `onHead`, whichever node has published.
    onDurable: (seq) => (carried === null ? head.move(seq) : undefined),
    onCommit(committed) {
      // Only a commit with events proves that the disk has room. A commit of duplicates writes nothing.
      state.committed()
      if (carried === null) writeMark()
      send('committed', committed)
    },
    onHeld: (commit) => send('held', commit),
    onIrregular: ({ field }) => send('irregular', field),
  })
  const end = async (): Promise<void> => {
    await carried?.[Symbol.asyncDispose]()
    await queue.close()
    highWater.sync()
    db.close()
    port.close()
  }

  let judge: TxJudge | null = null
  try {
    judge = await openJudge(judging, {
      ...time,
      db,
      heldCommands: queue.held,
      leads: () => carried?.leads() ?? true,
      now: clock.now,
      defer: (work) => void setImmediate(work),
      signal: state.stopped,
      report: (news) => send('judge', news),
    })
  } catch (error) {
    refuse(error)
    return await end()
  }

  const { id, chain } = readIdentity(db)
  const accepting = (): boolean => state.accepting() && (carried?.isPublishable() ?? true)
  server = createPublishApi({
    log: id,
    chain,
    queue,
    lastMessages: (tx) => judge?.lastMessages(tx) ?? null,
    steps: carried?.steps ?? null,
    tokens: settings.tokens,
    operations: openOperations({
      accepting,
      isInPlace: state.isInPlace,
      ask: (asked, msMax) => askWithin(msMax, 'operations', asked, accepting()),
    }),
    stopping: state.isStopping,
    monotonicMs: time.monotonicMs,
    async pause(ms) {
      await time.sleep(ms, NEVER)
    },
    requestPrefix: `d${Math.floor(time.random() * REQUEST_PREFIXES).toString(36)}`,
    ...countRequests(send),
    tellsAccepted: settings.tellsAccepted,
    onCrowded: () => send('crowded'),
    onFailure: (error, failed) => send('failure', reasonOf(error), failed),
  })
  carried?.start({
    queue,
    onHead({ seq, atMs }, followed) {
      head.move(seq)
      writeMark()
      if (followed > 0 && atMs !== null) send('followed', { seq, atMs, events: followed })
    },
    onOtherLog: state.breakDown,
  })
  send('listening', await listen(server, settings))
  await Promise.all([judge?.run(), once(server, 'close')])
  await end()
}

/** Opens the judge of transactions; null without one. */
async function openJudge(judging: WriterPart | null, context: JudgeContext): Promise<TxJudge | null> {
  if (judging === null) return null
  const { openTxJudge }: { openTxJudge: OpenTxJudge } = await import(judging.module)
  return await openTxJudge(judging.settings, context)
}

/** Clock of the writer, and its guard; null for the shared clock of a test. */
type WriterClock = Readonly<{ now(): Ms; guard: ClockGuard | null }>

function openClock(
  { clock, acceptClock }: WriterSettings,
  { nowMs, monotonicMs }: WriterTime,
  send: SendMain,
  headAtMs: () => Ms | null,
): WriterClock {
  if (clock !== undefined) return { now: openSharedClock(clock).now, guard: null }
  const now = (): Ms => msOf(nowMs())
  const onChange = (fault: ReturnType<ClockGuard['fault']>): void => send('clock', fault)
  return { now, guard: openClockGuard({ now, monotonicMs, headAtMs, accepted: acceptClock, onChange }) }
}

/** Signal that is never aborted. */
const NEVER = new AbortController().signal

/** Counts requests. Sends one message for each turn of the event loop, because messages are costly. */
function countRequests(send: SendMain): Pick<PublishApiSettings, 'onRequest' | 'onAnswered'> {
  const outcomes = new Map<PublishOutcome, number>()
  const reports: PublishApiReport[] = []
  function schedule(): void {
    if (outcomes.size > 0 || reports.length > 0) return
    setImmediate(() => {
      send('requests', outcomes, reports)
      outcomes.clear()
      reports.length = 0
    })
  }
  return {
    onRequest(outcome) {
      schedule()
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    },
    onAnswered(answered) {
      schedule()
      reports.push(answered)
    },
  }
}

/** Opens the private listener. Returns its port. */
async function listen(server: Server, { port, host }: WriterSettings): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the private listener has a port')
  return address.port
}
