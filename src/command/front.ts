import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { openHeadCell } from '../log/head-cell.ts'
import { openReader } from '../log/open-reader.ts'
import type { LogReader } from '../log/reader.ts'
import { assert } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import { floorTo, MINUTE_MS } from '../protocol/moment.ts'
import type { Problem } from '../protocol/problem.ts'
import type { Allowance } from '../serve/allowance.ts'
import { openAllowance } from '../serve/allowance.ts'
import type { AllowanceStore } from '../serve/allowance-store.ts'
import { openAllowanceStore } from '../serve/allowance-store.ts'
import { openAnswerCache } from '../serve/answer-cache.ts'
import { apiRoutes } from '../serve/api/routes.ts'
import { archiveRoutes } from '../serve/archive/routes.ts'
import { callerKey } from '../serve/caller.ts'
import { parseNetworks } from '../serve/caller-network.ts'
import type { PresentEtag } from '../serve/etag.ts'
import { openPresentEtag } from '../serve/etag.ts'
import type { Counter, Counters } from '../serve/counters.ts'
import { frontRoutes } from '../serve/front.ts'
import { openMetrics } from '../serve/metrics.ts'
import { PROBLEM_BASE } from '../serve/problem-document.ts'
import { openRouter } from '../serve/router.ts'
import { CONNECTIONS_MAX, KEEP_ALIVE_BEHIND_PROXY_MS, KEEP_ALIVE_MS, start } from '../serve/server.ts'
import { openStreamSlots } from '../serve/stream-slots.ts'
import { openStreams } from '../serve/stream/streams.ts'
import { openWeb } from '../serve/web/routes.ts'
import type { Site } from '../serve/web/site.ts'
import { DEFAULT_SITE } from '../serve/web/site.ts'
import type { FrontMemory } from './front-memory.ts'
import { isWrong } from './front-memory.ts'
import { watchStreams } from './service-metrics.ts'
import { VERSION } from './version.ts'
import type { World } from './world.ts'

/** What a thread that serves is told; it may be handed from thread to thread. */
export type FrontSettings = Readonly<{
  data: string
  host: string
  port: number
  /** Several threads listen on the same port. */
  reusePort: boolean
  /** CIDRs of the proxies whose X-Forwarded-For counts; empty for none. */
  trustProxy: string
  /** `redis://…` of the store that several machines share; null = this node's own memory. */
  limitStore: string | null
  streamsMax: number
  /** Milliseconds over which streams end when the service stops. */
  drainMs: number
  /** What the operator says of the site on its pages; `DEFAULT_SITE` unless it is said. */
  site?: Site
}>

/** What a front uses of the thread that it runs in. */
export type FrontTools = Readonly<{
  world: Pick<World, 'now' | 'monotonicMs' | 'random'>
  log: Logger
  registry: Registry
}>

/** The public half of one thread: a reader, streams, a listener. It has no way to the writer. */
export type Front = AsyncDisposable &
  Readonly<{
    port: number
    reader: LogReader
    /** Callers that the allowance remembers. */
    limiterKeys(): number
  }>

/** Connections beyond the streams that the listener takes. */
const CONNECTIONS_HEADROOM = 2_000
/** Milliseconds that answers under way have after the last stream. */
const DRAIN_HEADROOM_MS = 2_000

const LOG_IS_WRONG: Problem = {
  code: 'not-ready',
  detail: 'This node has found its copy of the log to be wrong, and shows nothing of it.',
}

/** Opens the log for reading and serves it; it is listening when this resolves. */
export async function openFront(
  settings: FrontSettings,
  memory: FrontMemory,
  tools: FrontTools,
): Promise<Front> {
  await using stack = new AsyncDisposableStack()
  const { world, log, registry } = tools
  const cell = openHeadCell(memory.head)
  const reader = openReader(settings.data, cell)
  stack.defer(() => reader.close())
  const counters = await openCounters(settings, memory, tools, stack)
  const report = (error: unknown, route = 'stream'): void =>
    log.error({ err: error, route }, 'a request failed')
  const streams = openStreams({ ...world, reader, slots: openStreamSlots(memory.slots), report })
  stack.use(streams)
  watchStreams(registry, streams)
  const trusted = parseNetworks(settings.trustProxy)
  assert(trusted.ok, 'the command line has checked --trust-proxy')
  const networks = trusted.value
  const etag = openPresentEtag(reader.identity.id, VERSION)
  const api = apiOf(reader, etag)
  const present = (now: Ms): string => etag(reader.head().seq, floorTo(now, MINUTE_MS))
  const web = openWeb(api, reader.identity, settings.site ?? DEFAULT_SITE, present)
  const server = await start(
    {
      host: settings.host,
      port: settings.port,
      reusePort: settings.reusePort,
      keepAliveMs: networks.length > 0 ? KEEP_ALIVE_BEHIND_PROXY_MS : KEEP_ALIVE_MS,
      connectionsMax: Math.max(CONNECTIONS_MAX, settings.streamsMax + CONNECTIONS_HEADROOM),
      drainMs: settings.drainMs + DRAIN_HEADROOM_MS,
    },
    {
      identity: reader.identity,
      router: openRouter([...api, ...frontRoutes(), ...web.routes, ...streams.routes]),
      callerOf: (peer, forwardedFor) => callerKey(peer, forwardedFor, networks),
      counters: counters?.scopes ?? null,
      unready: () => (isWrong(memory) ? LOG_IS_WRONG : undefined),
      refuse: web.refuse,
      now: world.now,
      monotonicMs: world.monotonicMs,
      problemBase: PROBLEM_BASE,
      metrics: openMetrics(registry),
      report,
    },
  )
  const stopped = new AbortController()
  void followHead(reader, cell, stopped.signal, report)
  // Streams end spread over the drain; the listener closes meanwhile and waits for the last of them.
  stack.defer(async () => {
    await Promise.all([streams.drain(isWrong(memory) ? 0 : settings.drainMs), server.drain()])
    stopped.abort()
  })
  const owned = stack.move()
  return {
    port: server.port,
    reader,
    limiterKeys: () => counters?.keys() ?? 0,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function apiOf(reader: LogReader, etag: PresentEtag): Parameters<typeof openRouter>[0] {
  const desk = { reader, etag, cache: openAnswerCache() }
  const node = { version: VERSION, following: () => ({ state: 'leader', behind: 0 }) as const }
  return [...apiRoutes(desk, node), ...archiveRoutes(reader, etag)]
}

/** Moves this thread's head after each commit, which wakes its streams, though nobody asks anything. */
export async function followHead(
  reader: LogReader,
  cell: ReturnType<typeof openHeadCell>,
  stopped: AbortSignal,
  report: (error: unknown, route: string) => void,
): Promise<void> {
  while (!stopped.aborted) {
    // The cell's own head, read first: a reader that fails, or that is ahead of the cell, waits like any other.
    const seen = cell.read()
    try {
      reader.head()
    } catch (error) {
      report(error, 'head')
    }
    await cell.moved(seen)
  }
}

async function openCounters(
  settings: FrontSettings,
  { allowances }: FrontMemory,
  { world, log }: FrontTools,
  stack: AsyncDisposableStack,
): Promise<Readonly<{ scopes: Counters; keys(): number }> | null> {
  if (allowances === null) return null
  const store = settings.limitStore === null ? null : await openStore(settings.limitStore, log)
  if (store !== null) stack.use(store)
  const counter = (allowance: Allowance): Counter => {
    const decide = store?.share(allowance) ?? allowance.decide
    return { policy: allowance.policy, decide: (caller) => decide(caller, Math.floor(world.monotonicMs())) }
  }
  const api = openAllowance(allowances.api)
  const tiles = openAllowance(allowances.tiles)
  const pages = openAllowance(allowances.pages)
  return {
    scopes: { api: counter(api), tiles: counter(tiles), pages: counter(pages) },
    keys: () => api.keys() + tiles.keys() + pages.keys(),
  }
}

function openStore(url: string, log: Logger): Promise<AllowanceStore> {
  return openAllowanceStore({
    url,
    report(signal) {
      if (signal.is === 'lost') log.error({ err: signal.cause }, 'the store of the allowance is lost')
      if (signal.is === 'regained') log.info('the store of the allowance is back')
    },
  })
}
