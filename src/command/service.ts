import { randomBytes } from 'node:crypto'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { HeadCell } from '../log/head-cell.ts'
import { openHeadCell } from '../log/head-cell.ts'
import { openReader } from '../log/open-reader.ts'
import type { LogReader } from '../log/reader.ts'
import type { NewLog } from '../log/store.ts'
import { createStore, hasStore, storePath } from '../log/store.ts'
import type { Problem } from '../protocol/problem.ts'
import { startWriter } from '../publish/writer.ts'
import { allocateAllowance, openAllowance } from '../serve/allowance.ts'
import type { AllowanceStore } from '../serve/allowance-store.ts'
import { openAllowanceStore } from '../serve/allowance-store.ts'
import { openAnswerCache } from '../serve/answer-cache.ts'
import { apiRoutes } from '../serve/api/routes.ts'
import { archiveRoutes } from '../serve/archive/routes.ts'
import { callerKey } from '../serve/caller.ts'
import type { Network } from '../serve/caller-network.ts'
import { openPresentEtag } from '../serve/etag.ts'
import type { AllowanceScope, Counter } from '../serve/exchange.ts'
import { openMetrics, openStateMetrics } from '../serve/metrics.ts'
import { frontRoutes } from '../serve/front.ts'
import { checksOf, openOperations } from '../serve/operations.ts'
import { PROBLEM_BASE } from '../serve/problem-document.ts'
import { openRouter } from '../serve/router.ts'
import { CONNECTIONS_MAX, KEEP_ALIVE_BEHIND_PROXY_MS, KEEP_ALIVE_MS, start } from '../serve/server.ts'
import { allocateStreamSlots, openStreamSlots, STREAMS_PER_CALLER } from '../serve/stream-slots.ts'
import { openStreams } from '../serve/stream/streams.ts'
import { openServiceMetrics } from './service-metrics.ts'
import { VERSION } from './version.ts'
import type { World } from './world.ts'
import { CommandError, takeDirectory } from './world.ts'

/** Everything `serve` needs to know, checked. */
export type ServiceSettings = Readonly<{
  data: string
  host: string
  port: number
  publishHost: string
  publishPort: number
  tokens: readonly string[]
  /** What a log that does not exist yet is made with. */
  newLog: NewLog
  balances: 'refuse' | 'report'
  trusted: readonly Network[]
  /** Requests of one caller in any 60 s; null = no limit. */
  rateLimit: number | null
  /** `redis://…` of the store that several machines share; null = this node's own memory. */
  limitStore: string | null
  streamsMax: number
  /** Milliseconds over which streams end when the service stops. */
  drainMs: number
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

const ALLOWANCE_WINDOW_MS = 60_000
/** Requests for tiles of the hash tree, which are many, small and immutable. */
const TILES_PER_WINDOW = 600

/** Starts the whole service on one data directory; it is listening when this resolves. */
export async function startService(settings: ServiceSettings, world: World, log: Logger): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  stack.use(takeDirectory(settings.data))
  if (!hasStore(settings.data)) createStore(storePath(settings.data), settings.newLog)
  const cell = openHeadCell()
  const reader = openReader(settings.data, cell)
  stack.defer(() => reader.close())
  checkIdentity(reader, settings)

  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = openServiceMetrics(registry)
  const broken = Promise.withResolvers<string>()
  let writing = true
  const checks = { store: () => reader.head().seq >= 0, accepting_publishes: () => writing }
  const operations = openOperations(checks, registry)
  const writer = await startWriter(writerSettings(settings, reader, cell), {
    onCommitted(committed) {
      metrics.committed(committed)
      reader.head()
    },
    onRequest: metrics.publishRequest,
    onIrregular: metrics.irregular,
    onBroken(reason) {
      writing = false
      broken.resolve(reason)
    },
    operations,
  })
  stack.use(writer)
  const front = await startFront(settings, world, log, { reader, registry, metrics, checks, stack })
  const owned = stack.move()
  return {
    reader,
    port: front.port,
    publishPort: writer.port,
    broken: broken.promise,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Inside = Readonly<{
  reader: LogReader
  registry: Registry
  metrics: ReturnType<typeof openServiceMetrics>
  checks: Readonly<Record<string, () => boolean>>
  stack: AsyncDisposableStack
}>

/** The public half: counters, routes, streams, listener. It has no way to the writer. */
async function startFront(
  settings: ServiceSettings,
  world: World,
  log: Logger,
  { reader, registry, metrics, checks, stack }: Inside,
): Promise<Readonly<{ port: number }>> {
  const secret = randomBytes(16).toString('hex')
  const counters = await openCounters(settings, world, log, secret, stack)
  const slots = openStreamSlots(
    allocateStreamSlots({ perCaller: STREAMS_PER_CALLER, perNode: settings.streamsMax }, secret),
  )
  const report = (error: unknown, route = 'stream'): void =>
    log.error({ err: error, route }, 'a request failed')
  const streams = openStreams({
    reader,
    slots,
    now: world.now,
    monotonicMs: world.monotonicMs,
    random: world.random,
    report,
  })
  metrics.watch(streams)
  const etag = openPresentEtag(reader.identity.id, VERSION)
  const desk = { reader, etag, cache: openAnswerCache() }
  const node = { version: VERSION, following: () => ({ state: 'leader', behind: 0 }) as const }
  const routes = [
    ...apiRoutes(desk, node),
    ...archiveRoutes(reader, etag),
    ...streams.routes,
    ...frontRoutes(),
  ]
  const server = await start(
    {
      host: settings.host,
      port: settings.port,
      reusePort: false,
      keepAliveMs: settings.trusted.length > 0 ? KEEP_ALIVE_BEHIND_PROXY_MS : KEEP_ALIVE_MS,
      connectionsMax: Math.max(CONNECTIONS_MAX, settings.streamsMax + CONNECTIONS_HEADROOM),
      drainMs: settings.drainMs + DRAIN_HEADROOM_MS,
    },
    {
      identity: reader.identity,
      router: openRouter(routes),
      callerOf: (peer, forwardedFor) => callerKey(peer, forwardedFor, settings.trusted),
      counters: counters?.scopes ?? null,
      unready: (): Problem | undefined => undefined,
      now: world.now,
      monotonicMs: world.monotonicMs,
      problemBase: PROBLEM_BASE,
      metrics: openMetrics(registry),
      report,
    },
  )
  openStateMetrics(registry, {
    version: VERSION,
    nodeVersion: process.versions.node,
    sqliteVersion: process.versions['sqlite'] ?? '',
    head: () => reader.head(),
    limiterKeys: () => counters?.keys() ?? 0,
    checks: () => checksOf(checks),
  })
  // Streams end spread over the drain; the listener closes meanwhile and waits for the last of them.
  stack.defer(async () => {
    await Promise.all([streams.drain(settings.drainMs), server.drain()])
    await streams[Symbol.asyncDispose]()
  })
  return { port: server.port }
}

/** Connections beyond the streams that the listener takes. */
const CONNECTIONS_HEADROOM = 2_000
/** Milliseconds that answers under way have after the last stream. */
const DRAIN_HEADROOM_MS = 2_000

async function openCounters(
  settings: ServiceSettings,
  world: World,
  log: Logger,
  secret: string,
  stack: AsyncDisposableStack,
): Promise<Readonly<{ scopes: Record<AllowanceScope, Counter>; keys(): number }> | null> {
  if (settings.rateLimit === null) return null
  const store = settings.limitStore === null ? null : await openStore(settings.limitStore, log)
  if (store !== null) stack.use(store)
  const own = openAllowance(
    allocateAllowance(
      { name: 'default', requests: settings.rateLimit, windowMs: ALLOWANCE_WINDOW_MS },
      secret,
    ),
  )
  const tiles = openAllowance(
    allocateAllowance({ name: 'tiles', requests: TILES_PER_WINDOW, windowMs: ALLOWANCE_WINDOW_MS }, secret),
  )
  const counter = (allowance: typeof own): Counter => {
    const decide = store?.share(allowance) ?? allowance.decide
    return { policy: allowance.policy, decide: (caller) => decide(caller, Math.floor(world.monotonicMs())) }
  }
  return { scopes: { api: counter(own), tiles: counter(tiles) }, keys: own.keys }
}

async function openStore(url: string, log: Logger): Promise<AllowanceStore> {
  return openAllowanceStore({
    url,
    report(signal) {
      if (signal.is === 'lost') log.error({ err: signal.cause }, 'the store of the allowance is lost')
      if (signal.is === 'regained') log.info('the store of the allowance is back')
    },
  })
}

function checkIdentity(reader: LogReader, { newLog }: ServiceSettings): void {
  if (reader.identity.chain === newLog.chain) return
  throw new CommandError(2, `this log was made for --chain ${reader.identity.chain}, not ${newLog.chain}`)
}

function writerSettings(
  settings: ServiceSettings,
  reader: LogReader,
  cell: HeadCell,
): Parameters<typeof startWriter>[0] {
  const { publishHost: host, publishPort: port, tokens, balances, data: dataDirectory } = settings
  return {
    dataDirectory,
    head: cell.buffer,
    host,
    port,
    tokens,
    chain: reader.identity.chain,
    balances,
    clock: settings.writerClock,
  }
}
