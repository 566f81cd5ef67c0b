import { once } from 'node:events'
import type { Server } from 'node:http'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { parentPort, workerData } from 'node:worker_threads'
import type { Appender } from '../../log/append.ts'
import { openAppender } from '../../log/append.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { isDiskFull } from '../../log/store/disk-probe.ts'
import { openHeadCell } from '../../log/store/head-cell.ts'
import { openHighWater } from '../../log/store/high-water.ts'
import { openSigner } from '../../log/tree/signer.ts'
import { openForWriting, readIdentity, storePath } from '../../log/store/store.ts'
import { assert } from '../../protocol/brand.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { Head } from '../../project/fold/books.ts'
import type { Ms } from '../../protocol/moment.ts'
import { msOf } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { openClockGuard } from './clock-guard.ts'
import type { ClockGuard } from './clock-guard.ts'
import type { CommitQueue } from '../commits/commit-queue.ts'
import { openCommitQueue } from '../commits/commit-queue.ts'
import type { PublishOutcome } from './door.ts'
import { createDoor } from './door.ts'
import type { DoorReport } from './door-replies.ts'
import type { OperationsAnswer } from './operations.ts'
import { openOperations } from './operations.ts'
import { openQuestions } from './questions.ts'
import { openSharedClock } from './shared-clock.ts'
import type { FromWriter, ToWriter, WriterSettings } from './writer-messages.ts'
import type { WriterState } from './writer-state.ts'
import { openGate } from './writer-gate.ts'
import { openWriterState } from './writer-state.ts'

/** Milliseconds in which requests in progress must end when the writer closes. */
const CLOSE_MS = 5_000
/** Number of prefixes of request ids, so that no two starts are likely to share one. */
const REQUEST_PREFIXES = 2 ** 32
/** Milliseconds between two sweeps of idle connections while the writer closes. */
const SWEEP_MS = 20

/**
 * Runs the writer's thread, with the only writing connection to the store and the private listener. An fsync here
 * delays only publishers. This is the composition root of the thread, so it may read the clock.
 */
async function run(port: MessagePort, settings: WriterSettings): Promise<void> {
  const say = (message: FromWriter): void => port.postMessage(message)
  const db = openForWriting(storePath(settings.dataDirectory))
  const identity = readIdentity(db)
  const appender = openAppender(db, openSigner(identity.origin, settings.keys))
  using mark = openHighWater(settings.dataDirectory)
  const head = openHeadCell(settings.head)
  head.move(appender.head().seq)
  const asked = openQuestions<OperationsAnswer>()
  const clock = openClock(settings, appender.head(), say)
  const state = openWriterState(settings.dataDirectory, clock.guard, say)
  const { accepting } = state
  process.on('unhandledRejection', (error) => {
    state.breakDown(`a failure in the writer's thread that nothing waited for: ${reasonOf(error)}`)
  })

  const queue = openQueue(settings, {
    db,
    appender,
    clock,
    state,
    say,
    // Every thread sees the new head, and what is held, from here on.
    onDurable: head.move,
    onPublic: () =>
      mark.write({ log: identity.id, checkpoint: appender.checkpoint(), former: identity.former }),
  })
  const gate = await openGate(settings, surroundingsOf({ db, queue, clock, state }), say)
  if (gate === undefined) {
    await queue.close()
    db.close()
    return port.close()
  }
  const door = createDoor({
    log: identity.id,
    queue,
    chain: settings.chain,
    tokens: settings.tokens,
    operations: openOperations({
      accepting,
      ask: (path, msMax) =>
        asked.ask(msMax, (id) => say({ is: 'operations', id, path, accepting: accepting() })),
    }),
    stopping: state.isStopping,
    monotonicMs: () => performance.now(),
    pause: (ms) => sleep(ms),
    ...openReports(settings, say),
  })
  port.on('message', (message: ToWriter) => {
    switch (message.is) {
      case 'operations':
        return asked.answer(message.id, message.answer)
      case 'stopping':
        return state.stop()
      case 'close':
        state.stop()
        return close(door)
    }
  })

  say({ is: 'listening', port: await listen(door, settings) })
  const asking = gate?.run()
  await once(door, 'close')
  await asking
  await queue.close()
  mark.sync()
  db.close()
  port.close()
}

/** Opens the reports of the door to the main thread. */
function openReports({ tellsAccepted }: WriterSettings, say: (message: FromWriter) => void) {
  return {
    ...openRequestCount((outcomes, answers) => say({ is: 'requests', outcomes, answers })),
    tellsAccepted,
    requestPrefix: `d${Math.floor(Math.random() * REQUEST_PREFIXES).toString(36)}`,
    onFailure: (error: unknown, answer: DoorReport) =>
      say({ is: 'failure', reason: reasonOf(error), answer }),
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
  db: DatabaseSync
  appender: Appender
  clock: WriterClock
  state: WriterState
  say(message: FromWriter): void
  /** Called after each commit, with the head. */
  onDurable(head: Seq): void
  /** Called after each commit with events. */
  onPublic(): void
}>

/** Opens the queue of commits on the writer's store. */
function openQueue(settings: WriterSettings, parts: WriterParts): CommitQueue {
  const { db, appender, clock, state, say, onDurable, onPublic } = parts
  return openCommitQueue({
    appender,
    tables: openHeldTables(db),
    asksChain: settings.finality !== null,
    balances: settings.balances,
    now: clock.now,
    clockAgrees: state.clockAgrees,
    monotonicMs: () => performance.now(),
    onDurable,
    onCommit(committed) {
      // Only a commit with events shows that the disk has room: one of duplicates writes nothing.
      state.committed()
      onPublic()
      say({ is: 'committed', committed })
    },
    onHeld: (held) => say({ is: 'held', held }),
    onIrregular: ({ field }) => say({ is: 'irregular', field }),
    isDiskFull: (bytes) => isDiskFull(settings.dataDirectory, bytes),
    onFull: state.full,
    onBroken: (error) => state.breakDown(`${error.message}: ${String(error.cause)}`),
  })
}

/** What the gate needs of this thread. */
function surroundingsOf({
  db,
  queue,
  clock,
  state,
}: Pick<WriterParts, 'db' | 'clock' | 'state'> & { queue: CommitQueue }) {
  return {
    db,
    queue: queue.held,
    now: clock.now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
    defer: (work: () => void) => void setImmediate(work),
    signal: state.stopped,
  }
}

type WriterClock = Readonly<{ now(): Ms; guard: ClockGuard | null }>

/** The machine's clock with its guard, or the shared clock of a test without one. */
function openClock(
  { clock, acceptClock }: WriterSettings,
  head: Head,
  say: (message: FromWriter) => void,
): WriterClock {
  if (clock !== undefined) return { now: openSharedClock(clock).now, guard: null }
  const now = (): Ms => msOf(Date.now())
  const guard = openClockGuard({
    now,
    monotonicMs: () => performance.now(),
    headAtMs: head.atMs,
    accepted: acceptClock,
    onChange: (fault) => say({ is: 'clock', fault }),
  })
  return { now, guard }
}

/** Opens a counter of requests that sends one message for each turn of the event loop, because messages are costly. */
function openRequestCount(
  tell: (outcomes: ReadonlyMap<PublishOutcome, number>, answers: readonly DoorReport[]) => void,
): Readonly<{ onRequest(outcome: PublishOutcome): void; onAnswered(answer: DoorReport): void }> {
  const outcomes = new Map<PublishOutcome, number>()
  const answers: DoorReport[] = []
  function schedule(): void {
    if (outcomes.size > 0 || answers.length > 0) return
    setImmediate(() => {
      tell(outcomes, answers)
      outcomes.clear()
      answers.length = 0
    })
  }
  return {
    onRequest(outcome) {
      schedule()
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    },
    onAnswered(answer) {
      schedule()
      answers.push(answer)
    },
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

assert(parentPort !== null, 'the writer runs in a thread of its own')
const settings: WriterSettings = workerData
await run(parentPort, settings)
