import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { openHeadCell } from '../../log/store/head-cell.ts'
import type { FinalityCounts, LogReader } from '../../log/store/reader.ts'
import type { Signing } from '../../log/tree/ready-log.ts'
import { readyLog } from '../../log/tree/ready-log.ts'
import type { NewLog } from '../../log/store/store.ts'
import { hasStore, readStoreIdentity } from '../../log/store/store.ts'
import type { Writer, WriterListeners } from '../../publish/door/writer.ts'
import type { ClockFault } from '../../publish/door/clock-guard.ts'
import { startWriter, WriterRefusal } from '../../publish/door/writer.ts'
import type { FinalitySettings } from '../../publish/finality/finality-settings.ts'
import type { NodeState } from '../../serve/metrics/metrics.ts'
import { gauge, openStateMetrics } from '../../serve/metrics/metrics.ts'
import type { AuditPace } from './background-audit.ts'
import { AUDIT_PACE, auditOnce, forgetFault, hasFault, keepFault, startAudits } from './background-audit.ts'
import { connectionLimit } from './connection-limit.ts'
import { openFinalityMetrics, watchHeld } from './finality-metrics.ts'
import type { FrontSettings } from './front-settings.ts'
import type { Front } from './front.ts'
import { openFront } from './front.ts'
import { allocateFront, sayStopping, sayWrong } from './front-memory.ts'
import { startFrontThreads } from './front-threads.ts'
import type { Serving } from './node-report.ts'
import { openNodeReport } from './node-report.ts'
import type { ServiceMetrics } from './service-metrics.ts'
import { openServiceMetrics } from './service-metrics.ts'
import { watchStore } from './store-metrics.ts'
import { orTaken } from './taken-port.ts'
import { VERSION } from '../terminal/version.ts'
import type { World } from '../terminal/world.ts'
import { CommandError, takeDirectory } from '../terminal/world.ts'

/** Settings of `serve`, already checked. */
export type ServiceSettings = Omit<FrontSettings, 'reusePort' | 'connectionsMax' | 'asksChain'> &
  Readonly<{
    publishHost: string
    publishPort: number
    tokens: readonly string[]
    /** Settings of a new log. */
    newLog: NewLog
    signing: Signing
    /** Whether the whole log is hashed before the first answer too, not only in the background. */
    /** Whether to publish although the newest event is ahead of the clock. */
    acceptClock: boolean
    verifyFirst: boolean
    /** Pace of the background audits; `AUDIT_PACE` if absent. */
    auditPace?: AuditPace
    balances: 'refuse' | 'report'
    /** Requests of one caller in any 60 s; null = no limit. */
    rateLimit: number | null
    /** Number of serving threads, including the main thread. */
    workers: number
    /** How the chain is asked whether a transaction is final; null when the operator vouches for it. */
    finality: FinalitySettings | null
    /** Clock of the writer in place of the machine's clock (`openSharedClock`). */
    writerClock?: SharedArrayBuffer
  }>

/** A running service. `broken` resolves with the reason when it must stop by itself. */
export type Service = AsyncDisposable &
  Readonly<{
    reader: LogReader
    port: number
    publishPort: number
    broken: Promise<string>
  }>

const HELD_WITHOUT_FINALITY =
  'drafts are held, and nothing asks the chain about them: start with --finality, or decide with daybook held'

/** Starts the whole service on one data directory; settles when it listens. */
export async function startService(settings: ServiceSettings, world: World, log: Logger): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  stack.use(takeDirectory(settings.data))
  const chain = await readyChain(settings, world)
  const { workers, shared, memory } = planThreads(settings, world, log)
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = openServiceMetrics(registry, world.now)
  watchStore(registry, settings.data)
  gauge(registry, 'daybook_stream_clients_max', 'Most streams that may be open', () => settings.streamsMax)
  const broken = Promise.withResolvers<string>()
  const state = { accepting: true, serving: null as Serving | null }
  const report = openNodeReport({ memory, registry, log, serving: () => state.serving })

  // The writer starts first, because it sets the head that the fronts begin with.
  const writing = startWriter(writerSettings(settings, chain, memory.head), {
    ...whatIsTold(metrics, log),
    onFinality: openFinalityMetrics(registry, log, world.now),
    onBroken: broken.resolve,
    operations(path, accepting) {
      state.accepting = accepting
      return report.answer(path, accepting)
    },
  })
  const writer = await orRefused(orTaken('--publish-port', writing))
  stack.use(writer)
  const opening = openFront({ ...shared, reusePort: workers > 1 }, memory, { world, log, registry })
  const front = await orTaken('--port', opening)
  stack.use(front)
  watchState(registry, front, async () => {
    const { store, serving } = await report.readiness()
    return { store, serving, accepting_publishes: state.accepting }
  })
  const heldCounts = (): FinalityCounts => front.reader.snapshot((snapshot) => snapshot.held())
  watchHeld(registry, heldCounts)
  if (settings.finality === null && heldCounts().held > 0) log.warn(HELD_WITHOUT_FINALITY)
  const others = { ...frontSettings(shared), port: front.port, reusePort: true }
  const threads = await startFrontThreads(workers - 1, { settings: others, memory }, broken.resolve)
  stack.use(threads)
  state.serving = { reader: front.reader, threads }
  stack.use(
    startAudits(settings.data, settings.auditPace ?? AUDIT_PACE, metrics.audited, (reason) => {
      // No drain: answers and signatures from now on would not be proved.
      sayWrong(memory)
      void writer.kill()
      broken.resolve(keepFault(settings.data, reason))
    }),
  )
  // All threads learn of the stop first, and all serving threads drain at the same time. The writer ends after every
  // reader, because the last connection moves the write-ahead log into the store.
  stack.defer(async () => {
    sayStopping(memory)
    writer.stop()
    // All threads answer idle connections until the last stream of the service has ended.
    const quiet = Promise.all([front.endStreams(), threads.endStreams()]).then(() => undefined)
    await Promise.all([front.drain(quiet), threads.drain(quiet)])
  })
  const owned = stack.move()
  return {
    reader: front.reader,
    port: front.port,
    publishPort: writer.port,
    broken: broken.promise,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Waits for the writer. Settings with which it does not start are wrong usage. */
async function orRefused(writing: Promise<Writer>): Promise<Writer> {
  try {
    return await writing
  } catch (error) {
    if (error instanceof WriterRefusal) throw new CommandError(2, error.message, { cause: error })
    throw error
  }
}

/** Number of serving threads, connections of each, and the memory that they share. */
function planThreads(settings: ServiceSettings, world: World, log: Logger) {
  const workers = world.sharesPorts ? settings.workers : 1
  if (workers < settings.workers) log.warn('threads cannot share a port on this system: one thread serves')
  const each = connectionsOf(settings, workers, world, log)
  const secret = randomBytes(16).toString('hex')
  const limits = { ...settings, connectionsMax: each * workers }
  const memory = allocateFront(openHeadCell().buffer, limits, secret)
  return {
    workers,
    shared: { ...settings, asksChain: settings.finality !== null, connectionsMax: each },
    memory,
  }
}

/** Listeners of the writer that only count or report. */
function whatIsTold(
  metrics: ServiceMetrics,
  log: Logger,
): Pick<WriterListeners, 'onCommitted' | 'onRequests' | 'onIrregular' | 'onFailure' | 'onRoom' | 'onClock'> {
  return {
    onCommitted: metrics.committed,
    onRequests: metrics.publishRequests,
    onIrregular: metrics.irregular,
    onFailure: (reason) => log.error({ reason }, 'a request on the private listener failed'),
    onRoom(room) {
      metrics.room(room)
      if (room) log.info('the disk has room again: events are published')
      else log.error('the disk is full: no event is published until there is room')
    },
    onClock(fault) {
      metrics.clock(fault)
      reportClock(log, fault)
    },
  }
}

function reportClock(log: Logger, fault: ClockFault | null): void {
  if (fault === null) log.info('the clock agrees again: events are published')
  else if (fault === 'stepped') {
    log.error('the clock was set by 60 s or more: no event is published until it agrees, or until a restart')
  } else {
    log.error(
      'the newest event is more than 60 s ahead of the clock: set the clock, or start with --accept-clock',
    )
  }
}

/** Prepares the log for its writer; returns the chain of its transactions. */
async function readyChain(
  { data, verifyFirst, newLog, signing }: ServiceSettings,
  world: World,
): Promise<NewLog['chain']> {
  // Checked before anything is signed.
  if (hasStore(data) && (verifyFirst || hasFault(data))) await auditOnce(data, world)
  readyLog(data, newLog, signing)
  forgetFault(data)
  return readStoreIdentity(data).chain
}

/** Registers the metrics of the whole service that are read at each collection. */
function watchState(registry: Registry, front: Front, checks: NodeState['checks']): void {
  openStateMetrics(registry, {
    version: VERSION,
    nodeVersion: process.versions.node,
    sqliteVersion: process.versions['sqlite'] ?? '',
    head: () => front.reader.head(),
    limiterKeys: front.limiterKeys,
    checks,
  })
}

/** Settings of a front that may be passed to another thread. */
function frontSettings(settings: Omit<FrontSettings, 'reusePort'>): Omit<FrontSettings, 'reusePort'> {
  const { data, host, port, trustProxy, limitStore, streamsMax, drainMs, connectionsMax, site, publicUrl } =
    settings
  return {
    asksChain: settings.asksChain,
    data,
    host,
    port,
    trustProxy,
    limitStore,
    streamsMax,
    drainMs,
    publicUrl: publicUrl ?? null,
    connectionsMax,
    ...(site === undefined ? {} : { site }),
  }
}

/** Connections of each serving thread. Logs a warning if open files are too few for all of them. */
function connectionsOf({ streamsMax }: ServiceSettings, threads: number, world: World, log: Logger): number {
  const openFiles = world.openFilesMax?.() ?? null
  const { each, wanted } = connectionLimit(openFiles, streamsMax, threads)
  if (each * threads < wanted) {
    const reason = `this process may open ${openFiles} files: raise that limit (LimitNOFILE, ulimit -n)`
    log.warn({ connectionsMax: each, wanted, threads }, reason)
  }
  return each
}

function writerSettings(
  settings: ServiceSettings,
  chain: NewLog['chain'],
  head: SharedArrayBuffer,
): Parameters<typeof startWriter>[0] {
  const { publishHost: host, publishPort: port, tokens, balances, data: dataDirectory } = settings
  const { acceptClock, signing, finality, writerClock: clock } = settings
  const { keys } = signing
  return { dataDirectory, head, host, port, tokens, chain, balances, finality, keys, acceptClock, clock }
}
