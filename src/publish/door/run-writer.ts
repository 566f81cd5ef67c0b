import { once } from 'node:events'
import type { Server } from 'node:http'
import type { MessagePort } from 'node:worker_threads'
import { isDiskFull } from '../../log/store/disk-probe.ts'
import { outsideReason } from '../../log/outside-reason.ts'
import { openHeadCell } from '../../log/store/head-cell.ts'
import { openHighWater } from '../../log/store/high-water.ts'
import { isOfMachine } from '../../log/store/sqlite-error.ts'
import { readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { assert } from '../../protocol/brand.ts'
import { errorMessage, reasonOf } from '../../protocol/error-reason.ts'
import type { Seq } from '../../protocol/seq.ts'
import { type CommitQueue, openCommitQueue } from '../commit-queue.ts'
import { createDoor } from './door.ts'
import { openOperations, type OperationsAnswer } from './operations.ts'
import { openQuestions } from './questions.ts'
import type { CarriedLog, OpenCarriedLog, WriterTime } from './carried-log.ts'
import { filesHeldOpen, openOwnLog, type WriterLog } from './writer-log.ts'
import { openReports } from './writer-reports.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'
import { openWriterClock, type WriterClock } from './writer-clock.ts'
import { openWriterState, type WriterState } from './writer-state.ts'
import { type JudgeWorld, type OpenTxJudge, type TxJudge, WriterRefusal } from './tx-judge.ts'

/** Milliseconds in which requests in progress must end when the writer closes. */
const CLOSE_MS = 5_000
/** Milliseconds between two sweeps of idle connections while the writer closes. */
const SWEEP_MS = 20

/**
 * Runs the writer's thread, with the only writing connection to the store and the private listener. An fsync here
 * delays only publishers. `openCarried` opens a log that other machines carry; null for a log of this node alone.
 */
export async function runWriter(
  port: MessagePort,
  settings: WriterSettings,
  time: WriterTime,
  openCarried: OpenCarriedLog | null = null,
): Promise<void> {
  const say = (message: FromWriter): void => port.postMessage(message)
  const own = openCarried === null ? openOwn(settings, say) : null
  const open: OpenParts = { door: null, carried: null }
  const clock = openWriterClock(
    settings,
    time,
    () => (own ?? open.carried)?.appender.head().atMs ?? null,
    say,
  )
  const state = openWriterState(settings.dataDirectory, clock.guard, say)
  time.onUnhandled((error) => {
    state.breakDown(`a failure in the writer's thread that nothing waited for: ${reasonOf(error)}`)
  })
  const asked = openQuestions<OperationsAnswer>()
  port.on('message', (message: ToWriter) => hear(message, { open, asked, state, say }))

  const carried = openCarried === null ? null : await joinCarried(openCarried, settings, { state, say, time })
  const log: WriterLog | null = own ?? carried
  if (log === null) return port.close()
  open.carried = carried
  using highWater = openHighWater(settings.dataDirectory)
  state.watch(filesHeldOpen(settings.dataDirectory), storePath(settings.dataDirectory))
  const head = openHeadCell(settings.head)
  head.move(log.appender.head().seq)
  const writeMark = openMarking(log, highWater)
  // Every thread sees the new head, and what is held, from here on. The head of a carried log moves at `onHead`, whoever
  // has published.
  const seen = carried === null ? { onDurable: head.move, onPublic: writeMark } : SEEN_AT_HEAD
  const queue = openQueue(settings, { log, clock, state, say, time, ...seen })
  const end = async (): Promise<void> => {
    await carried?.[Symbol.asyncDispose]()
    await queue.close()
    highWater.sync()
    log.db.close()
    port.close()
  }
  const leads = (): boolean => carried?.leads() ?? true
  const judge = await openJudge(
    settings,
    { ...surroundingsOf({ log, queue, clock, state, time }), leads },
    say,
  )
  if (judge === undefined) return await end()
  const door = openDoor(settings, { log, carried, queue, judge, state, asked, say, time })
  open.door = door
  carried?.start({
    queue,
    onHead({ seq, atMs }, followed) {
      head.move(seq)
      writeMark()
      if (followed > 0 && atMs !== null) say({ is: 'followed', seq, atMs, events: followed })
    },
    onOtherLog: state.breakDown,
  })
  say({ is: 'listening', port: await listen(door, settings) })
  await Promise.all([judge?.run(), once(door, 'close')])
  await end()
}

/** Opens the private listener. It is not listening yet. */
function openDoor(
  settings: WriterSettings,
  parts: Pick<WriterParts, 'log' | 'state' | 'say' | 'time'> &
    Pick<Hearing, 'asked'> &
    Readonly<{ carried: CarriedLog | null; queue: CommitQueue; judge: TxJudge | null }>,
): Server {
  const { log, carried, queue, judge, state, asked, say, time } = parts
  const accepting = (): boolean => state.accepting() && (carried?.isPublishable() ?? true)
  return createDoor({
    log: readIdentity(log.db).id,
    queue,
    lastWords: (tx) => judge?.said(tx) ?? null,
    steps: carried?.steps ?? null,
    chain: readIdentity(log.db).chain,
    tokens: settings.tokens,
    operations: operationsOf({ asked, state, say }, accepting),
    stopping: state.isStopping,
    monotonicMs: time.monotonicMs,
    async pause(ms) {
      await time.sleep(ms, NEVER)
    },
    ...openReports(settings, { say, random: time.random }),
  })
}

/** Opens the writing of the high-water mark, unless the node has served a larger tree. */
function openMarking(log: WriterLog, highWater: ReturnType<typeof openHighWater>): () => void {
  return () => {
    const mark = log.mark()
    if (mark !== null) highWater.write(mark)
  }
}

/**
 * Opens the log of this node alone. Null, after the reason is said, when the store or its disk cannot be used.
 */
function openOwn(settings: WriterSettings, say: (message: FromWriter) => void): WriterLog | null {
  try {
    return openOwnLog(settings)
  } catch (error) {
    const reason = outsideReason(error)
    if (reason === undefined) throw error
    say({ is: 'unusable', reason })
    return null
  }
}

/** Opens the log that other machines carry. Null when the node stops before, and when the start is refused. */
async function joinCarried(
  openCarried: OpenCarriedLog,
  settings: WriterSettings,
  { state, say, time }: Pick<WriterParts, 'state' | 'say' | 'time'>,
): Promise<CarriedLog | null> {
  const { dataDirectory } = settings
  try {
    return await openCarried(settings, {
      ...time,
      signal: state.stopped,
      accepts: state.accepting,
      isDiskFull: (bytes) => isDiskFull(dataDirectory, bytes),
      onFull: state.full,
      onBroken: (error) => state.breakDown(`${error.message}: ${errorMessage(error.cause)}`),
      tell: (news) => say({ is: 'carrier', news }),
    })
  } catch (error) {
    if (state.isStopping()) return null
    if (!(error instanceof StoreError)) throw error
    say({ is: isOfMachine(error.cause) ? 'unusable' : 'refused', reason: error.message })
    return null
  }
}

/** Signal that is never aborted. */
const NEVER = new AbortController().signal

const SEEN_AT_HEAD = { onDurable: (): void => undefined, onPublic: (): void => undefined }

/** Parts that messages of the main thread concern; null until they are open. */
type OpenParts = { door: Server | null; carried: CarriedLog | null }

type Hearing = Readonly<{
  open: OpenParts
  asked: ReturnType<typeof openQuestions<OperationsAnswer>>
  state: WriterState
  say(message: FromWriter): void
}>

/** Opens the answers about the node: what the writer knows itself, and what it asks the main thread. */
function operationsOf(
  { asked, state, say }: Omit<Hearing, 'open'>,
  accepting: () => boolean,
): ReturnType<typeof openOperations> {
  return openOperations({
    accepting,
    isInPlace: state.isInPlace,
    ask: (path, msMax) =>
      asked.ask(msMax, (id) => say({ is: 'operations', id, path, accepting: accepting() })),
  })
}

/** Does what the main thread asks. */
function hear(message: ToWriter, { open, asked, state, say }: Hearing): void {
  switch (message.is) {
    case 'operations':
      return asked.answer(message.id, message.answer)
    case 'barrier': {
      const { id } = message
      const head = open.carried?.barrier() ?? Promise.resolve(null)
      return void head.catch(() => null).then((seq) => say({ is: 'barrier', id, seq }))
    }
    case 'stopping':
      return state.stop()
    case 'close':
      state.stop()
      if (open.door !== null) close(open.door)
  }
}

/** Opens the private listener. Returns its port. */
async function listen(door: Server, { port, host }: WriterSettings): Promise<number> {
  door.listen(port, host)
  await once(door, 'listening')
  const address = door.address()
  assert(typeof address === 'object' && address !== null, 'the door listens on a port')
  return address.port
}

type WriterParts = Readonly<{
  log: WriterLog
  clock: WriterClock
  state: WriterState
  time: WriterTime
  say(message: FromWriter): void
  /** Called after each commit, with the head. */
  onDurable(head: Seq): void
  /** Called after each commit with events. */
  onPublic(): void
}>

/** Opens the queue of commits on the writer's store. */
function openQueue(settings: WriterSettings, parts: WriterParts): CommitQueue {
  const { log, clock, state, say, time, onDurable, onPublic } = parts
  const { appender, tables, held, path } = log
  return openCommitQueue({
    ...(held !== undefined && { held }),
    ...(path !== undefined && { path }),
    appender,
    tables,
    asksChain: settings.judge !== null,
    balances: settings.balances,
    now: clock.now,
    refusal: state.refusal,
    monotonicMs: time.monotonicMs,
    onDurable,
    onCommit(committed) {
      // Only a commit with events shows that the disk has room: one of duplicates writes nothing.
      state.committed()
      onPublic()
      say({ is: 'committed', committed })
    },
    onHeld: (more) => say({ is: 'held', held: more }),
    onIrregular: ({ field }) => say({ is: 'irregular', field }),
    isDiskFull: (bytes) => isDiskFull(settings.dataDirectory, bytes),
    onFull: state.full,
    onBroken: (error) => state.breakDown(`${error.message}: ${errorMessage(error.cause)}`),
  })
}

/** Parts of this thread that a judge of transactions needs. */
function surroundingsOf({
  log,
  queue,
  clock,
  state,
  time,
}: Pick<WriterParts, 'log' | 'clock' | 'state' | 'time'> & { queue: CommitQueue }) {
  return {
    db: log.db,
    queue: queue.held,
    now: clock.now,
    ...time,
    defer: (work: () => void) => void setImmediate(work),
    signal: state.stopped,
  }
}

/**
 * Opens the judge of transactions. Null without one. Undefined when the start is refused, and when the service is stopped
 * before.
 */
async function openJudge(
  { judge }: WriterSettings,
  world: Omit<JudgeWorld, 'tell'>,
  say: (message: FromWriter) => void,
): Promise<TxJudge | null | undefined> {
  if (judge === null) return null
  const { openTxJudge }: { openTxJudge: OpenTxJudge } = await import(judge.module)
  try {
    return await openTxJudge(judge.settings, { ...world, tell: (news) => say({ is: 'judge', news }) })
  } catch (error) {
    if (world.signal.aborted) return undefined
    if (!(error instanceof WriterRefusal)) throw error
    say({ is: 'refused', reason: error.message })
    return undefined
  }
}

/** Closes the listener, answers the requests in progress, and cuts connections that are left after `CLOSE_MS`. */
function close(door: Server): void {
  door.close()
  // A kept-alive connection that has its answer would delay the stop up to the limit.
  const sweep = setInterval(() => door.closeIdleConnections(), SWEEP_MS)
  door.once('close', () => clearInterval(sweep))
  setTimeout(() => door.closeAllConnections(), CLOSE_MS).unref()
}
