import { openBarrierCell } from '../../serve/following/barrier-cell.ts'
import { followHead, openHeadCell } from '../../log/head-cell.ts'
import { openReader } from '../../log/open-reader.ts'
import type { LogReader } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import {
  type Allowance,
  type Counter,
  type Counters,
  openAllowance,
} from '../../serve/allowance/allowance.ts'
import { callerOf, type Network, parseNetworks, peerOf } from '../../serve/allowance/caller.ts'
import type { ParquetFiles } from '../../serve/archive/parquet-reply.ts'
import { openCallerSlots } from '../../serve/allowance/caller-slots.ts'
import { openExportPlaces } from '../../serve/allowance/export-places.ts'
import { BEHIND_WAIT_MS_MAX, type HeadWaits, openHeadWaits } from '../../serve/following/head-waits.ts'
import { type Exports, openExports } from '../../serve/export/exports.ts'
import { openPresentEtag } from '../../serve/http/etag.ts'
import { VERSION } from '../terminal/version.ts'
import { gauge, openMetrics } from '../../serve/metrics/metrics.ts'
import { openRequestIds, PROBLEM_BASE } from '../../serve/http/problem-document.ts'
import { openRouter } from '../../serve/http/router.ts'
import { answerLines, openMinuteReport, sayStreamEnd } from '../log-lines/node-lines.ts'
import { KEEP_ALIVE_BEHIND_PROXY_MS, KEEP_ALIVE_MS, type ServerSettings, start } from '../../serve/server.ts'
import { openStreams, type Streams } from '../../serve/stream/streams.ts'
import { type FrontMemory, isWrong, openUnready } from './front-memory.ts'
import { frontRoutesOf, openNodeReports, shownPresent, type ShownSettings } from './front-routes.ts'
import { watchDelivery, watchExports, watchStreams } from './service-metrics.ts'
import type { AnswerJob } from '../../serve/request/answer-job.ts'
import type { AnswerElsewhere } from '../../serve/request/request-path.ts'
import type { Reply } from '../../serve/http/route.ts'
import {
  type AnswerCache,
  openAnswerCache,
  openSharedAnswers,
  type SharedAnswers,
} from '../../serve/request/answer-cache.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { openPictures } from '../../serve/request/pictures.ts'
import { openScripts } from '../../web/assets/assets.ts'
import { DEFAULT_SITE, type Site } from '../../web/markup/site.ts'
import { hostInUrl } from '../terminal/log-address.ts'
import { ANSWER_THREADS, openAnswerThreads } from './answer-threads.ts'
import { openPictureDrawing } from './picture-drawing.ts'
import type { Timed } from '../../serve/fairness/fair-turns.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import type { Registry } from 'prom-client'
import type { StreamLimits } from '../../serve/stream/limits.ts'
import type { CommandContext } from '../terminal/command-context.ts'

/** Public half of one thread: a reader, streams and a listener. It cannot reach the writer. */
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

/** Number of prefixes of request ids, so large that two threads or starts rarely share one. */
const REQUEST_PREFIXES = 2 ** 32
/** Grace period in milliseconds for answers in progress after the last stream. */
const DRAIN_HEADROOM_MS = 2_000

/** Opens the log for reading and serves it. Resolves when it listens. */
export async function openFront(
  settings: FrontSettings,
  memory: FrontMemory,
  tools: FrontTools,
): Promise<Front> {
  await using stack = new AsyncDisposableStack()
  const { context, lines, registry, parquet } = tools
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
  const { api, web } = frontRoutesOf(
    reader,
    shownBy(settings, memory, settings.port),
    answers.scripts,
    parquet,
  )
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
  // An answer from a wrong log must not end as if it were complete.
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

/** Settings of the listener. Idle connections are kept longer behind a proxy. */
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

/** Drain of a thread. It runs once, and later calls wait for it. */
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

/** Opens a thread's waits for seqs that this node lacks. */
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

/** Opens the streams and exports of a thread, which last as long as their callers read. */
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

const STATUS_PATH = ENDPOINT_PATHS.status

/** Opens the answers of answer threads, which all callers of this thread share. */
function openAnswers(
  settings: FrontSettings,
  memory: FrontMemory,
  reader: LogReader,
  { context }: FrontTools,
  stack: AsyncDisposableStack,
): Pick<SharedAnswers, 'waiting'> &
  Readonly<{
    answer: AnswerElsewhere
    cache: AnswerCache
    /** Number of pictures that wait to be drawn. */
    picturesWaiting(): number
    scripts: ReturnType<typeof openScripts>
    listens(port: number): void
  }> {
  const scripts = openScripts()
  let { port } = settings
  const threads = openAnswerThreads(
    () => ({ data: settings.data, head: memory.head, ...shownBy(settings, memory, port) }),
    { scripts },
  )
  stack.use(threads)
  const make = async (job: AnswerJob): Promise<Timed<Reply>> => {
    const { reply, head, tookMs } = await threads.make(job)
    // If the answer saw a newer head, this thread's streams get it before the answer is sent.
    if (head > reader.head().seq) reader.snapshot(() => undefined)
    return { value: reply, tookMs }
  }
  const reports = openNodeReports(shownBy(settings, memory, port))
  const cache = openAnswerCache((path) => {
    const shown = shownPresent(reader, reports, context.now())
    return path === STATUS_PATH ? `${shown} ${reports.version()}` : shown
  })
  const { monotonicMs } = context
  const shared = openSharedAnswers({ cache, places: ANSWER_THREADS, make, monotonicMs })
  const drawing = openPictureDrawing()
  stack.use(drawing)
  const pictures = openPictures({ draw: drawing.draw, monotonicMs })
  return {
    cache,
    async answer(caller, job, gone) {
      return pictures.finish(caller, job, await shared.answer(caller, job, gone), gone)
    },
    waiting: shared.waiting,
    picturesWaiting: pictures.waiting,
    scripts,
    listens: (at) => {
      port = at
    },
  }
}

/** Settings that answers show. The site's address is `publicUrl`, by default the address of the listener. */
function shownBy(
  { site, publicUrl, host, asksChain, mirrorOf, following: follows }: FrontSettings,
  memory: Pick<FrontMemory, 'mirror' | 'following'>,
  port: number,
): ShownSettings {
  const name = EVERY_ADDRESS.has(host) ? 'localhost' : host
  const url = publicUrl ?? `http://${hostInUrl(name)}:${port}`
  const mirror = mirrorOf === null ? null : memory.mirror
  const following = follows && mirrorOf === null ? memory.following : null
  return { site: { ...DEFAULT_SITE, ...site, url }, asksChain, mirror, following }
}

/** Hosts of a listener on every address of the machine. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** Settings of a serving thread, structured-cloneable for other threads. */
export type FrontSettings = Readonly<{
  data: string
  host: string
  port: number
  /** Whether several threads listen on the same port. */
  reusePort: boolean
  /** CIDRs of the proxies whose X-Forwarded-For counts; empty for none. */
  trustProxy: string
  /** Whether the writer asks the blockchain about transactions. */
  asksChain: boolean
  /** Whether this node follows a log with other writers, so that it may be behind events that its callers have seen. */
  following: boolean
  /** Public address of the service that this mirror follows; null on a node that is no mirror. */
  mirrorOf: string | null
  streamsMax: number
  /** Limits of streams that replace those of `STREAM_LIMITS`. */
  streamLimits?: Partial<StreamLimits>
  /** Milliseconds over which streams end at a stop. */
  drainMs: number
  /** Connections that this thread accepts. */
  connectionsMax: number
  /** The operator's texts for the site; `DEFAULT_SITE` if absent. */
  site?: Omit<Site, 'url'>
  /** Public address of the site; the listener's address if absent. */
  publicUrl?: string | null
}>

/** Tools of the thread that a front runs in. */
type FrontTools = Readonly<{
  context: Pick<CommandContext, 'now' | 'monotonicMs' | 'random'>
  lines: LogLines
  registry: Registry
  /** The Parquet files of the process. */
  parquet: ParquetFiles
}>

/** Whether the store can be read, tested with the newest event. */
export function isReadable(reader: LogReader): boolean {
  try {
    return reader.snapshot(({ head, line }) => head.seq === 0 || line(head.seq) !== undefined)
  } catch {
    return false
  }
}
