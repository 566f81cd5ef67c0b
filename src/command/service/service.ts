import type { FinalityCounts, LogReader } from '../../log/store/reader.ts'
import { readyLog, type Signing } from '../../log/tree/ready-log.ts'
import { forgetWitnessed } from '../../log/witnessed/witnessed-file.ts'
import { hasStore, type NewLog } from '../../log/store/store.ts'
import { PUBLISH_CONNECTIONS_MAX } from '../../publish/api/publish-api.ts'
import { startWriter, type Writer, type WriterListeners } from '../../publish/writer/writer.ts'
import { WriterRefusal } from '../../publish/tx-judge.ts'
import type { Status } from '../../protocol/endpoints/description-endpoints.ts'
import type { WriterPart } from '../../publish/writer/writer-messages.ts'
import type { OperationsPath } from '../../publish/api/operations.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import {
  type AuditLines,
  openAuditLines,
  openWriterLines,
  watchBackups,
  type WriterLines,
} from '../log-lines/node-lines.ts'
import {
  AUDIT_PACE,
  auditOnce,
  type AuditPace,
  forgetFault,
  hasFault,
  keepFault,
  startAudits,
} from './background-audit.ts'
import { answerBarriers } from '../../serve/following/barrier-answers.ts'
import { openCrowdedReport } from './crowded-report.ts'
import { watchHeld } from './held-metrics.ts'
import type { Front, FrontTools } from './front.ts'
import type { Cosigners, Judge, LogCarrier, NodeTools } from '../plug/option.ts'
import { openReportCell } from '../../serve/following/report-cell.ts'
import { type FrontMemory, sayStopping, sayWrong } from './front-memory.ts'
import { drainThreads, type NodeSettings, openMainFront, planThreads, startThreads } from './node-threads.ts'
import { openNodeRegistry, openNodeReport, type Serving, watchNode } from './node-report.ts'
import { openServiceMetrics, type ServiceMetrics } from './service-metrics.ts'
import { orTaken } from './taken-port.ts'
import { takeDirectory, type CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'

/** Settings of `serve`, already checked. */
export type ServiceSettings = Omit<NodeSettings, 'asksChain' | 'following' | 'mirrorOf'> &
  Readonly<{
    publishHost: string
    publishPort: number
    tokens: readonly string[]
    /** Settings of a new log. */
    newLog: NewLog
    signing: Signing
    /** Whether to publish although the newest event is ahead of the clock. */
    acceptClock: boolean
    /** Whether the whole log is hashed before the first answer too, not only in the background. */
    verifyFirst: boolean
    /** Pace of the background audits; `AUDIT_PACE` if absent. */
    auditPace?: AuditPace
    balances: 'refuse' | 'report'
    /** Machines that carry the log; null for a log that only this node writes. */
    carrier: LogCarrier | null
    /** Judge of transactions; null when the operator vouches for them. */
    judge: Judge | null
    /** Others that are asked to cosign the log; null for none. */
    cosigners: Cosigners | null
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

/** Starts the whole service on one data directory; settles when it listens. */
export async function startService(
  settings: ServiceSettings,
  context: CommandContext,
  lines: LogLines,
): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  stack.use(takeDirectory(settings.data))
  const audits = openAuditLines(lines, context.monotonicMs)
  await readyStore(settings, context, audits)
  const plan = planThreads(threadSettings(settings), context, lines)
  const { memory } = plan
  const registry = openNodeRegistry(settings)
  const tools = { context, lines, registry }
  const metrics = openServiceMetrics(registry, context.now)
  const broken = Promise.withResolvers<string>()
  const state = { accepting: true, serving: null as Serving | null }
  const { told, replaced } = openStorePlace(metrics, lines)
  const report = openNodeReport({ memory, registry, lines, told, serving: () => state.serving })

  // The writer starts first, because it sets the head that the fronts begin with.
  const listeners = {
    ...whatIsTold({ ...tools, metrics }, stack),
    carrier: hearCarrier(settings, memory, tools),
    judge: settings.judge === null ? () => undefined : settings.judge.hear(tools).told,
    replaced,
    broken: broken.resolve,
    operations(path: OperationsPath, accepting: boolean) {
      state.accepting = accepting
      return report.answer(path, accepting)
    },
  }
  const own = writerSettings(settings, memory.head, lines)
  const writing = startWriter(own, listeners, threadOf(settings, context))
  const writer = await orRefused(orTaken('--publish-port', writing), context)
  stack.use(writer)
  stack.use(answerBarriers(memory.barrier, writer))
  const front = await openMainFront(plan, tools)
  stack.use(front)
  watchNode(registry, front, report, () => state.accepting)
  watchHeldDrafts(settings, { registry, lines }, front)
  const threads = await startThreads(plan, front, { lines, broken: broken.resolve })
  stack.use(threads)
  state.serving = { reader: front.reader, threads }
  stack.use(watchBackups(settings.data, lines))
  stack.use(startCosigners(settings, front.reader, tools))
  const pace = { ...(settings.auditPace ?? AUDIT_PACE), keys: settings.signing.keys }
  stack.use(
    startAudits(settings.data, pace, [audits, { audited: metrics.audited }], (reason) => {
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
    await drainThreads(front, threads)
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

/** Registers the counts of held drafts, and warns when nothing asks about them. */
function watchHeldDrafts(
  { judge }: ServiceSettings,
  { registry, lines }: Pick<FrontTools, 'registry' | 'lines'>,
  { reader }: Front,
): void {
  const counts = (): FinalityCounts => reader.snapshot((snapshot) => snapshot.held())
  watchHeld(registry, counts)
  const { held } = counts()
  if (judge === null && held > 0) lines.say('held-unasked', { held })
}

/** Asks others to cosign the log. Without any, what those of an earlier run have cosigned is forgotten. */
function startCosigners(
  { data, cosigners }: ServiceSettings,
  reader: LogReader,
  tools: NodeTools,
): AsyncDisposable | null {
  if (cosigners !== null) return cosigners.start({ ...tools, data, reader })
  forgetWitnessed(data)
  return null
}

/** Settings of the serving threads. */
function threadSettings(settings: ServiceSettings): NodeSettings {
  const { judge, carrier } = settings
  return { ...settings, asksChain: judge !== null, following: carrier !== null, mirrorOf: null }
}

/** Thread of the writer, and what stops its start. */
function threadOf({ carrier }: ServiceSettings, { stop }: CommandContext): Parameters<typeof startWriter>[2] {
  return carrier === null ? { stop } : { stop, thread: new URL(carrier.module) }
}

/** Receiver of news of the machines that carry the log. */
function hearCarrier(
  { carrier }: ServiceSettings,
  { following }: FrontMemory,
  tools: NodeTools,
): WriterListeners['carrier'] {
  if (carrier === null) return () => undefined
  const show = openReportCell<Status['following']>(following).write
  return carrier.hear({ ...tools, show }).told
}

/** Listeners of the writer that only count or write log lines. */
function whatIsTold(
  {
    metrics,
    lines,
    context,
    registry,
  }: FrontTools & Readonly<{ metrics: ServiceMetrics; context: CommandContext }>,
  stack: AsyncDisposableStack,
): WriterLines & Pick<WriterListeners, 'requests' | 'crowded' | 'irregular' | 'followed'> {
  const { monotonicMs } = context
  const writerLines = openWriterLines(lines, monotonicMs)
  stack.defer(writerLines.flush)
  return {
    ...writerLines,
    followed: ({ events }) => metrics.followed(events),
    committed(committed) {
      metrics.committed(committed)
      writerLines.committed(committed)
    },
    requests({ outcomes, reports }) {
      for (const [outcome, count] of outcomes) metrics.publishRequests(outcome, count)
      for (const report of reports) writerLines.answered(report)
    },
    crowded: openCrowdedReport('private', PUBLISH_CONNECTIONS_MAX, { lines, registry, monotonicMs }),
    irregular: metrics.irregular,
    room(room) {
      metrics.room(room)
      writerLines.room(room)
    },
    clock(fault) {
      metrics.clock(fault)
      writerLines.clock(fault)
    },
  }
}

/** Opens the check of `/readyz` that the files of the store are in place, and the listener that tells of one that is not. */
function openStorePlace(
  metrics: ServiceMetrics,
  lines: LogLines,
): Pick<WriterListeners, 'replaced'> & Readonly<{ told(): Readonly<Record<string, boolean>> }> {
  let inPlace = true
  return {
    told: () => ({ store_in_place: inPlace }),
    replaced(file) {
      inPlace = false
      metrics.replaced()
      lines.say('store-replaced', { file })
    },
  }
}

/** Waits for the writer. Settings with which it does not start are wrong usage. */
async function orRefused(writing: Promise<Writer>, { stop }: Pick<CommandContext, 'stop'>): Promise<Writer> {
  try {
    return await writing
  } catch (error) {
    if (error instanceof WriterRefusal)
      throw new (stop.aborted ? CommandError : UsageError)(error.message, { cause: error })
    throw error
  }
}

/** Prepares the store for its writer. Of a log that others carry, a start changes nothing. */
export async function readyStore(
  {
    data,
    verifyFirst,
    newLog,
    signing,
    carrier,
  }: Pick<ServiceSettings, 'data' | 'verifyFirst' | 'newLog' | 'signing' | 'carrier'>,
  context: CommandContext,
  audits: AuditLines,
): Promise<void> {
  // Checked before anything is signed.
  if (hasStore(data) && (verifyFirst || hasFault(data))) await auditOnce(data, context, audits)
  if (carrier === null) readyLog(data, newLog, signing)
  forgetFault(data)
}

function writerSettings(
  settings: ServiceSettings,
  head: SharedArrayBuffer,
  lines: LogLines,
): Parameters<typeof startWriter>[0] {
  const { publishHost: host, publishPort: port, tokens, balances, data: dataDirectory } = settings
  const { acceptClock, signing, writerClock: clock } = settings
  const carrier = settings.carrier?.settings ?? null
  const { keys } = signing
  const tellsAccepted = lines.choice().level === 'debug'
  const judge = partOf(settings.judge)
  const own = { balances, judge, keys, carrier, acceptClock, clock, tellsAccepted }
  return { dataDirectory, head, host, port, tokens, ...own }
}

/** The part without what belongs to the main thread. */
function partOf(part: WriterPart | null): WriterPart | null {
  return part === null ? null : { module: part.module, settings: part.settings }
}
