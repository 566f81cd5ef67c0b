import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import { openHeadCell } from '../log/head-cell.ts'
import type { LogReader } from '../log/reader.ts'
import type { Signing } from '../log/ready-log.ts'
import { readyLog } from '../log/ready-log.ts'
import type { NewLog } from '../log/store.ts'
import { hasStore, readStoreIdentity } from '../log/store.ts'
import { startWriter } from '../publish/writer.ts'
import { openStateMetrics } from '../serve/metrics.ts'
import { checksOf, openOperations } from '../serve/operations.ts'
import type { AuditPace } from './audit.ts'
import { AUDIT_PACE, auditOnce, forgetFault, hasFault, keepFault, startAudits } from './audit.ts'
import type { FrontSettings } from './front.ts'
import { connectionsMaxOf, openFront } from './front.ts'
import type { FrontMemory } from './front-memory.ts'
import { allocateFront, sayWrong } from './front-memory.ts'
import type { FrontThreads } from './front-threads.ts'
import { startFrontThreads } from './front-threads.ts'
import { openServiceMetrics } from './service-metrics.ts'
import { orTaken } from './taken-port.ts'
import { VERSION } from './version.ts'
import type { World } from './world.ts'
import { takeDirectory } from './world.ts'

/** Everything `serve` needs to know, checked. */
export type ServiceSettings = Omit<FrontSettings, 'reusePort'> &
  Readonly<{
    publishHost: string
    publishPort: number
    tokens: readonly string[]
    /** What a log that does not exist yet is made with. */
    newLog: NewLog
    signing: Signing
    /** The whole log is hashed again before the first answer, and not only afterwards. */
    verifyFirst: boolean
    /** How fast the log is audited while it is served; `AUDIT_PACE` unless it is said. */
    auditPace?: AuditPace
    balances: 'refuse' | 'report'
    /** Requests of one caller in any 60 s; null = no limit. */
    rateLimit: number | null
    /** Threads that serve, the main thread included. */
    workers: number
    /** What the writer takes for the present instead of the machine's clock (`openSharedClock`). */
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

/** Starts the whole service on one data directory; it is listening when this resolves. */
export async function startService(settings: ServiceSettings, world: World, log: Logger): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  stack.use(takeDirectory(settings.data))
  const chain = await readyChain(settings, world)
  const memory = allocateMemory(settings)
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = openServiceMetrics(registry)
  const broken = Promise.withResolvers<string>()
  const state = { writing: true, threads: null as FrontThreads | null }
  const breakDown = (reason: string): void => {
    state.writing = false
    broken.resolve(reason)
  }
  const checks = { accepting_publishes: () => state.writing }
  const operations = openOperations(checks, {
    contentType: registry.contentType,
    metrics: () => allMetrics(registry, state.threads),
  })

  // The writer comes first: it shows the head that the fronts begin with.
  const writing = startWriter(writerSettings(settings, chain, memory.head), {
    onCommitted: metrics.committed,
    onRequests: metrics.publishRequests,
    onIrregular: metrics.irregular,
    onFailure: (reason) => log.error({ reason }, 'a publish request failed'),
    onBroken: breakDown,
    operations,
  })
  const writer = await orTaken('--publish-port', writing)
  stack.use(writer)
  const workers = world.sharesPorts ? settings.workers : 1
  if (workers < settings.workers) log.warn('threads cannot share a port on this system: one thread serves')
  const tools = { world, log, registry, onBroken: breakDown }
  const opening = openFront({ ...settings, reusePort: workers > 1 }, memory, tools)
  const front = await orTaken('--port', opening)
  stack.use(front)
  openStateMetrics(registry, {
    version: VERSION,
    nodeVersion: process.versions.node,
    sqliteVersion: process.versions['sqlite'] ?? '',
    head: () => front.reader.head(),
    limiterKeys: front.limiterKeys,
    checks: () => checksOf(checks),
  })
  if (workers > 1) {
    const shared = { ...frontSettings(settings), port: front.port, reusePort: true }
    state.threads = await startFrontThreads(workers - 1, { settings: shared, memory }, breakDown)
    stack.use(state.threads)
  }
  stack.use(
    startAudits(settings.data, settings.auditPace ?? AUDIT_PACE, metrics.audited, (reason) => {
      // No drain: what is signed, published or shown from here on would not be proved.
      sayWrong(memory)
      void writer.kill()
      breakDown(keepFault(settings.data, reason))
    }),
  )
  const owned = stack.move()
  return {
    reader: front.reader,
    port: front.port,
    publishPort: writer.port,
    broken: broken.promise,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The memory that all threads share, for as many connections as they take together. */
function allocateMemory(settings: ServiceSettings): FrontMemory {
  const connectionsMax = connectionsMaxOf(settings) * settings.workers
  const secret = randomBytes(16).toString('hex')
  return allocateFront(openHeadCell().buffer, { ...settings, connectionsMax }, secret)
}

/** Makes the log ready for its writer; the chain that its transactions are written for. */
async function readyChain(
  { data, verifyFirst, newLog, signing }: ServiceSettings,
  world: World,
): Promise<NewLog['chain']> {
  // Before anything is signed.
  if (hasStore(data) && (verifyFirst || hasFault(data))) await auditOnce(data, world)
  readyLog(data, newLog, signing)
  forgetFault(data)
  return readStoreIdentity(data).chain
}

/** Only what may be handed to a thread. */
function frontSettings(settings: ServiceSettings): Omit<FrontSettings, 'reusePort'> {
  const { data, host, port, trustProxy, limitStore, streamsMax, drainMs, site, publicUrl } = settings
  return {
    data,
    host,
    port,
    trustProxy,
    limitStore,
    streamsMax,
    drainMs,
    publicUrl: publicUrl ?? null,
    ...(site === undefined ? {} : { site }),
  }
}

/** The metrics of the process, those of its threads added up. */
async function allMetrics(registry: Registry, threads: FrontThreads | null): Promise<string> {
  if (threads === null) return registry.metrics()
  const all = [await registry.getMetricsAsJSON(), ...(await threads.metrics())]
  return AggregatorRegistry.aggregate(all).metrics()
}

function writerSettings(
  settings: ServiceSettings,
  chain: NewLog['chain'],
  head: SharedArrayBuffer,
): Parameters<typeof startWriter>[0] {
  const { publishHost: host, publishPort: port, tokens, balances, data: dataDirectory } = settings
  const { keys } = settings.signing
  return { dataDirectory, head, host, port, tokens, chain, balances, keys, clock: settings.writerClock }
}
