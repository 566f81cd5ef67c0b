import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { openHeadCell } from '../log/head-cell.ts'
import { openReader } from '../log/open-reader.ts'
import type { LogReader } from '../log/reader.ts'
import { assert } from '../protocol/brand.ts'
import { floorTo, MINUTE_MS } from '../protocol/moment.ts'
import type { Allowance } from '../serve/allowance.ts'
import { openAllowance } from '../serve/allowance.ts'
import type { AllowanceStore } from '../serve/allowance-store.ts'
import { openAllowanceStore } from '../serve/allowance-store.ts'
import type { Question } from '../serve/answerer.ts'
import { callerOf, peerOf } from '../serve/caller.ts'
import { parseNetworks } from '../serve/caller-network.ts'
import { openCallerSlots } from '../serve/caller-slots.ts'
import type { Counter, Counters } from '../serve/counters.ts'
import { gauge, openMetrics } from '../serve/metrics.ts'
import { PROBLEM_BASE } from '../serve/problem-document.ts'
import type { Reply } from '../serve/route.ts'
import { openRouter } from '../serve/router.ts'
import { KEEP_ALIVE_BEHIND_PROXY_MS, KEEP_ALIVE_MS, start } from '../serve/server.ts'
import type { SharedAnswers } from '../serve/shared-answers.ts'
import { openSharedAnswers } from '../serve/shared-answers.ts'
import { openStreams } from '../serve/stream/streams.ts'
import { openScripts } from '../serve/web/assets.ts'
import type { Site } from '../serve/web/site.ts'
import { DEFAULT_SITE } from '../serve/web/site.ts'
import { ANSWER_THREADS, openAnswerThreads } from './answer-threads.ts'
import { openDropReport } from './drop-report.ts'
import type { FrontMemory } from './front-memory.ts'
import { isWrong } from './front-memory.ts'
import { frontRoutesOf } from './front-routes.ts'
import { openUnready } from './front-unready.ts'
import { watchStreams } from './service-metrics.ts'
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
  /** Connections that this thread takes. */
  connectionsMax: number
  /** What the operator says of the site on its pages; `DEFAULT_SITE` unless it is said. */
  site?: Omit<Site, 'url'>
  /** The address that the site has for the world; that of the listener where it is not said. */
  publicUrl?: string | null
}>

/** What a front uses of the thread that it runs in. */
export type FrontTools = Readonly<{
  world: Pick<World, 'now' | 'monotonicMs' | 'random'>
  log: Logger
  registry: Registry
  /** Told why the service must stop by itself. */
  onBroken(reason: string): void
}>

/** The public half of one thread: a reader, streams, a listener. It has no way to the writer. */
export type Front = AsyncDisposable &
  Readonly<{
    port: number
    reader: LogReader
    /** Callers that the allowance remembers. */
    limiterKeys(): number
    /** Ends streams and answers, and listens no more; the reader stays open until it is disposed of. */
    drain(): Promise<void>
  }>

/** Milliseconds that answers under way have after the last stream. */
const DRAIN_HEADROOM_MS = 2_000

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
  const streams = openStreams({ ...world, reader, slots: openCallerSlots(memory.slots), report })
  stack.use(streams)
  watchStreams(registry, streams)
  const trusted = parseNetworks(settings.trustProxy)
  assert(trusted.ok, 'the command line has checked --trust-proxy')
  const networks = trusted.value
  const answers = openAnswers(settings, memory, reader, tools, stack)
  gauge(registry, 'daybook_answers_waiting', 'Questions that wait for their turn', answers.waiting)
  const { api, web } = frontRoutesOf(reader, siteOf(settings, settings.port), answers.scripts)
  const server = await start(
    {
      host: settings.host,
      port: settings.port,
      reusePort: settings.reusePort,
      keepAliveMs: networks.length > 0 ? KEEP_ALIVE_BEHIND_PROXY_MS : KEEP_ALIVE_MS,
      connectionsMax: settings.connectionsMax,
      drainMs: settings.drainMs + DRAIN_HEADROOM_MS,
      onDrop: openDropReport(log, world.monotonicMs, settings.connectionsMax),
      connections: {
        slots: openCallerSlots(memory.connections),
        addressOf: ({ remoteAddress }) => peerOf(remoteAddress, networks),
      },
    },
    {
      identity: reader.identity,
      router: openRouter([...api, ...web.routes, ...streams.routes]),
      answer: answers.answer,
      callerOf: (request) => callerOf(request, networks),
      counters: counters?.scopes ?? null,
      unready: openUnready(memory),
      now: world.now,
      monotonicMs: world.monotonicMs,
      problemBase: PROBLEM_BASE,
      metrics: openMetrics(registry),
      report,
    },
  )
  answers.listens(server.port)
  const stopped = new AbortController()
  void followHead(reader, cell, stopped.signal, report)
  // Streams end spread over the drain; the listener closes meanwhile and waits for the last of them.
  const drainAll = async (): Promise<void> => {
    const ended = streams.drain(isWrong(memory) ? 0 : settings.drainMs)
    await Promise.all([ended, server.drain(ended)])
    stopped.abort()
  }
  let drained: Promise<void> | undefined
  const drain = (): Promise<void> => (drained ??= drainAll())
  stack.defer(drain)
  const owned = stack.move()
  return {
    port: server.port,
    reader,
    limiterKeys: () => counters?.keys() ?? 0,
    drain,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The answers that are made by threads of their own, and shared by all who ask this one. */
function openAnswers(
  settings: FrontSettings,
  memory: FrontMemory,
  reader: LogReader,
  { world, onBroken }: FrontTools,
  stack: AsyncDisposableStack,
): SharedAnswers & Readonly<{ scripts: ReturnType<typeof openScripts>; listens(port: number): void }> {
  const scripts = openScripts()
  let { port } = settings
  const threads = openAnswerThreads(
    () => ({ data: settings.data, head: memory.head, site: siteOf(settings, port) }),
    { scripts, onBroken },
  )
  stack.use(threads)
  const ask = async (question: Question): Promise<Reply> => {
    const { reply, head } = await threads.ask(question)
    // What the answer has seen, the streams of this thread queue before it leaves.
    if (head > reader.head().seq) reader.snapshot(() => undefined)
    return reply
  }
  const present = ({ now }: Question): string => `${reader.head().seq} ${floorTo(now, MINUTE_MS)}`
  const { monotonicMs } = world
  return {
    ...openSharedAnswers({ places: ANSWER_THREADS, ask, present, monotonicMs }),
    scripts,
    listens: (at) => {
      port = at
    },
  }
}

/** The site with its address: what the operator says it is, else where this machine finds it. */
function siteOf({ site, publicUrl, host }: FrontSettings, port: number): Site {
  const name = EVERY_ADDRESS.has(host) ? 'localhost' : host
  const url = publicUrl ?? `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  return { ...DEFAULT_SITE, ...site, url }
}

/** What a listener on every address of the machine is told. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

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
    return {
      policy: allowance.policy,
      decide: (caller, units) => decide(caller, Math.floor(world.monotonicMs()), units),
    }
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
