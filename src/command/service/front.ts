import { openBarrierCell } from '../../serve/following/barrier-cell.ts'
import { followHead, openHeadCell } from '../../log/head-cell.ts'
import { openReader } from '../../log/open-reader.ts'
import type { LogReader } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import { type Allowance, openAllowance } from '../../serve/allowance/allowance.ts'
import { callerOf, peerOf } from '../../serve/allowance/caller.ts'
import { type Network, parseNetworks } from '../../serve/allowance/caller-network.ts'
import { openCallerSlots } from '../../serve/allowance/caller-slots.ts'
import { openExportPlaces } from '../../serve/allowance/export-places.ts'
import { BEHIND_WAIT_MS_MAX } from '../../serve/following/following-limits.ts'
import { type HeadWaits, openHeadWaits } from '../../serve/following/head-waits.ts'
import { type Exports, openExports } from '../../serve/export/exports.ts'
import { openPresentEtag } from '../../serve/http/etag.ts'
import { VERSION } from '../terminal/version.ts'
import type { Counter, Counters } from '../../serve/allowance/counters.ts'
import { gauge, openMetrics } from '../../serve/metrics/metrics.ts'
import { PROBLEM_BASE } from '../../serve/http/problem-document.ts'
import { openRequestIds } from '../../serve/http/request-ids.ts'
import { openRouter } from '../../serve/http/router.ts'
import { answerLines, openMinuteReport, sayStreamEnd } from '../log-lines/node-lines.ts'
import { KEEP_ALIVE_BEHIND_PROXY_MS, KEEP_ALIVE_MS, type ServerSettings, start } from '../../serve/server.ts'
import { openStreams, type Streams } from '../../serve/stream/streams.ts'
import { openAnswers, shownBy } from './front-answers.ts'
import { type FrontMemory, isWrong } from './front-memory.ts'
import { frontRoutesOf } from './front-routes.ts'
import type { FrontSettings, FrontTools } from './front-settings.ts'
import { openUnready } from './front-unready.ts'
import { watchDelivery, watchExports, watchStreams } from './service-metrics.ts'

/** Public half of one thread: a reader, streams and a listener. It has no way to the writer. */
export type Front = AsyncDisposable &
  Readonly<{
    port: number
    reader: LogReader
    /** Number of callers that the allowance remembers. */
    limiterKeys(): number
    /** Refuses new streams and ends the open ones, spread over the drain. Settles when none is left. */
    endStreams(): Promise<void>
    /**
     * Ends streams and answers, and stops listening. Idle connections are answered until `quiet` settles; by default
     * until this thread's streams have ended. The reader stays open until the front is disposed of.
     */
    drain(quiet?: Promise<void>): Promise<void>
  }>

/** Number of prefixes of request ids, so that no two threads and starts are likely to share one. */
const REQUEST_PREFIXES = 2 ** 32
/** Milliseconds that answers in progress have after the last stream. */
const DRAIN_HEADROOM_MS = 2_000

/** Opens the log for reading and serves it; settles when it listens. */
export async function openFront(
  settings: FrontSettings,
  memory: FrontMemory,
  tools: FrontTools,
): Promise<Front> {
  await using stack = new AsyncDisposableStack()
  const { context, lines, registry } = tools
  const cell = openHeadCell(memory.head)
  const reader = openReader(settings.data, cell)
  stack.defer(() => reader.close())
  const counters = openCounters(memory, context)
  const report = (error: unknown, of = 'stream'): void => lines.say('read-failed', { err: error, of })
  const waits = settings.following ? openWaits(reader, memory) : null
  const { streams, exports } = openSenders(settings, { reader, waits, report }, memory, tools)
  stack.use(streams)
  stack.use(exports)
  const trusted = parseNetworks(settings.trustProxy)
  assert(trusted.ok, 'the command line has checked --trust-proxy')
  const networks = trusted.value
  const answers = openAnswers(settings, memory, reader, tools, stack)
  gauge(registry, 'daybook_answers_waiting', 'Questions that wait for their turn', answers.waiting)
  gauge(registry, 'daybook_pictures_waiting', 'Pictures that wait to be drawn', answers.picturesWaiting)
  gauge(
    registry,
    'daybook_behind_waiting',
    'Requests that wait for an event which this node does not have yet',
    () => waits?.waiting() ?? 0,
  )
  const { api, web } = frontRoutesOf(reader, shownBy(settings, memory, settings.port), answers.scripts)
  const server = await start(listenerOf(settings, memory, networks, tools), {
    identity: reader.identity,
    mirrorOf: settings.mirrorOf,
    licence: settings.site?.licence ?? null,
    requestIds: openRequestIds(Math.floor(context.random() * REQUEST_PREFIXES).toString(36)),
    router: openRouter([...exports.over([...api, ...web.routes]), ...streams.routes]),
    cache: answers.cache,
    answer: answers.answer,
    callerOf: (request) => callerOf(request, networks),
    counters: counters?.scopes ?? null,
    unready: openUnready(memory),
    following: waits === null ? null : { reader, waits },
    now: context.now,
    monotonicMs: context.monotonicMs,
    problemBase: PROBLEM_BASE,
    metrics: openMetrics(registry),
    report: answerLines(lines),
  })
  answers.listens(server.port)
  const stopped = new AbortController()
  void followHead(reader, cell, stopped.signal, (error) => report(error, 'head'))
  const endStreams = (): Promise<void> => {
    waits?.end()
    return streams.drain(isWrong(memory) ? 0 : settings.drainMs)
  }
  // An answer from a wrong log must not end as if it were whole.
  const drainListener = (quiet: Promise<void>): Promise<void> =>
    server.drain(quiet, isWrong(memory) ? 0 : undefined)
  const drain = openDrain(endStreams, drainListener, stopped)
  stack.defer(() => drain())
  const owned = stack.move()
  return {
    port: server.port,
    reader,
    limiterKeys: () => counters?.keys() ?? 0,
    endStreams,
    drain,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Settings of the listener. Behind a proxy, idle connections are kept for longer. */
function listenerOf(
  settings: FrontSettings,
  memory: FrontMemory,
  networks: readonly Network[],
  { context, lines }: FrontTools,
): ServerSettings {
  return {
    host: settings.host,
    port: settings.port,
    reusePort: settings.reusePort,
    keepAliveMs: networks.length > 0 ? KEEP_ALIVE_BEHIND_PROXY_MS : KEEP_ALIVE_MS,
    connectionsMax: settings.connectionsMax,
    drainMs: settings.drainMs + DRAIN_HEADROOM_MS,
    onDrop: openMinuteReport(
      (count) => lines.say('connections-full', { count, connectionsMax: settings.connectionsMax }),
      context.monotonicMs,
    ),
    connections: {
      slots: openCallerSlots(memory.connections),
      addressOf: ({ remoteAddress }) => peerOf(remoteAddress, networks),
    },
  }
}

/** The drain of a thread. It runs once; later calls wait for it. */
function openDrain(
  endStreams: () => Promise<void>,
  drainListener: (quiet: Promise<void>) => Promise<void>,
  stopped: AbortController,
): (quiet?: Promise<void>) => Promise<void> {
  let drained: Promise<void> | undefined
  return (quiet) => {
    const ended = endStreams()
    drained ??= Promise.all([ended, drainListener(quiet ?? ended)]).then(() => stopped.abort())
    return drained
  }
}

/** Opens the waits of a thread for a seq that this node does not have yet. */
function openWaits(reader: LogReader, memory: FrontMemory): HeadWaits {
  const { ask } = openBarrierCell(memory.barrier)
  return openHeadWaits({
    reader,
    slots: openCallerSlots(memory.waits),
    barrier: () => ask(BEHIND_WAIT_MS_MAX),
  })
}

type SenderParts = Readonly<{
  reader: LogReader
  waits: HeadWaits | null
  report: (error: unknown, of?: string) => void
}>

/** Opens the answers of a thread that last as long as their callers read. */
function openSenders(
  { streamLimits = {} }: FrontSettings,
  { reader, waits, report }: SenderParts,
  memory: FrontMemory,
  { context, registry, lines }: FrontTools,
): Readonly<{ streams: Streams; exports: Exports }> {
  const streams = openStreams({
    ...context,
    reader,
    waits,
    slots: openCallerSlots(memory.slots),
    limits: streamLimits,
    report,
    onDelivered: watchDelivery(registry),
    ended: (end) => sayStreamEnd(lines, end),
  })
  watchStreams(registry, streams)
  const exports = openExports({
    reader,
    etag: openPresentEtag(reader.identity.id, VERSION),
    places: openExportPlaces(memory.exports),
    monotonicMs: context.monotonicMs,
    report: (error) => report(error, 'export'),
    onStalled: (seq) => lines.say('export-cut', { seq }),
  })
  watchExports(registry, exports)
  return { streams, exports }
}

function openCounters(
  { allowances }: FrontMemory,
  { monotonicMs }: FrontTools['context'],
): Readonly<{ scopes: Counters; keys(): number }> | null {
  if (allowances === null) return null
  const counter = ({ policy, decide }: Allowance): Counter => ({
    policy,
    decide: (caller, units) => decide(caller, Math.floor(monotonicMs()), units),
  })
  const api = openAllowance(allowances.api)
  const tiles = openAllowance(allowances.tiles)
  const pages = openAllowance(allowances.pages)
  return {
    scopes: { api: counter(api), tiles: counter(tiles), pages: counter(pages) },
    keys: () => api.keys() + tiles.keys() + pages.keys(),
  }
}
