import type { FinalityCounts, LogReader } from '../../log/store/reader.ts'
import { hasStore, type NewLog } from '../../log/store/store.ts'
import { readyLog, type Signing } from '../../log/tree/ready-log.ts'
import { forgetWitnessed } from '../../log/witnessed/witnessed-file.ts'
import type { Status } from '../../protocol/endpoints/description-endpoints.ts'
import { WriterRefusal } from '../../publish/tx-judge.ts'
import { startWriter, type Writer, type WriterListeners } from '../../publish/writer/writer.ts'
import { answerBarriers } from '../../serve/following/barrier-answers.ts'
import { openReportCell } from '../../serve/following/report-cell.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import { type AuditLines, openAuditLines, watchBackups } from '../log-lines/node-lines.ts'
import type { Cosigners, Judge, LogCarrier } from '../plug/option.ts'
import { type CommandContext, takeDirectory } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import {
  AUDIT_PACE,
  auditOnce,
  type AuditPace,
  forgetFault,
  hasFault,
  keepFault,
  startAudits,
} from './background-audit.ts'
import { sayStopping, sayWrong } from './front-memory.ts'
import { openNodeRegistry, openNodeReport, type Serving, watchNode } from './node-report.ts'
import { drainThreads, type NodeSettings, openMainFront, planThreads, startThreads } from './node-threads.ts'
import { openParquetMonths } from './parquet-months.ts'
import { openPublishReport } from './publish-report.ts'
import { openAuditMetrics, watchHeld } from './service-metrics.ts'
import { orTaken } from './taken-port.ts'

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
    /** Whether to hash the whole log before the first answer too, not only in the background. */
    verifyFirst: boolean
    /** Pace of the background audits; `AUDIT_PACE` if absent. */
    auditPace?: AuditPace
    balances: 'refuse' | 'report'
    /** Machines that carry the log; null for a log that only this node writes. */
    carrier: LogCarrier | null
    /** Judge of transactions; null when the operator vouches for them. */
    judge: Judge | null
    /** Witnesses that are asked to cosign the log; null for none. */
    cosigners: Cosigners | null
    /** Clock of the writer instead of the machine's clock (`openSharedClock`). */
    writerClock?: SharedArrayBuffer
  }>

/** Running service. `broken` resolves with the reason when it must stop by itself. */
export type Service = AsyncDisposable &
  Readonly<{
    reader: LogReader
    port: number
    publishPort: number
    broken: Promise<string>
  }>

/** Starts the whole service on one data directory. Resolves when it listens. */
export async function startService(
  settings: ServiceSettings,
  context: CommandContext,
  lines: LogLines,
): Promise<Service> {
  await using stack = new AsyncDisposableStack()
  const { data, carrier, judge, cosigners } = settings
  stack.use(takeDirectory(data))
  const audits = openAuditLines(lines, context.monotonicMs)
  await readyStore(settings, context, audits)
  const serving = { asksChain: judge !== null, following: carrier !== null, mirrorOf: null }
  const plan = planThreads({ ...settings, ...serving }, context, lines)
  const { memory } = plan
  const registry = openNodeRegistry(settings)
  const tools = { context, lines, registry }
  const broken = Promise.withResolvers<string>()
  const state = { accepting: true, serving: null as Serving | null }
  const published = stack.use(openPublishReport(registry, lines, context.monotonicMs))
  const report = openNodeReport({
    memory,
    registry,
    lines,
    otherChecks: published.otherChecks,
    serving: () => state.serving,
  })
  const show = openReportCell<Status['following']>(memory.following).write

  // The writer starts first, because it sets the initial head of the fronts.
  const listeners: WriterListeners = {
    ...published,
    carrier: carrier?.reportReader({ ...tools, show }) ?? (() => undefined),
    judge: judge?.reportReader(tools) ?? (() => undefined),
    broken: broken.resolve,
    operations(path, accepting) {
      state.accepting = accepting
      return report.answer(path, accepting)
    },
  }
  const thread = carrier === null ? {} : { thread: new URL(carrier.module) }
  const starting = startWriter(writerSettings(settings, memory.head, lines), listeners, {
    stop: context.stop,
    ...thread,
  })
  const writer = await orRefused(orTaken('--publish-port', starting), context)
  stack.use(writer)
  stack.use(answerBarriers(memory.barrier, writer))
  const parquet = stack.use(openParquetMonths({ data, lines, registry, monotonicMs: context.monotonicMs }))
  const front = await openMainFront(plan, { ...tools, parquet })
  stack.use(front)
  watchNode(registry, front, report, () => state.accepting)
  const held = (): FinalityCounts => front.reader.snapshot((snapshot) => snapshot.held())
  watchHeld(registry, held)
  if (judge === null && held().held > 0) lines.say('held-unasked', { held: held().held })
  const threads = await startThreads(plan, front, { lines, parquet, broken: broken.resolve })
  stack.use(threads)
  stack.use(parquet.watch(front.reader))
  state.serving = { reader: front.reader, threads }
  stack.use(watchBackups(data, lines))
  // Without witnesses, cosignatures of an earlier run are removed.
  if (cosigners === null) forgetWitnessed(data)
  else stack.use(cosigners.start({ ...tools, data, reader: front.reader }))
  const pace = { ...(settings.auditPace ?? AUDIT_PACE), keys: settings.signing.keys }
  const audited = openAuditMetrics(registry, context.now)
  stack.use(
    startAudits(data, pace, [audits, { audited }], (reason) => {
      // No drain, because answers and signatures from now on would be unproved.
      sayWrong(memory)
      void writer.kill()
      broken.resolve(keepFault(data, reason))
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

/** Prepares the store for its writer. A start changes nothing in a log that others carry. */
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

/** Settings of the writer that can be sent to its thread. */
function writerSettings(
  settings: ServiceSettings,
  head: SharedArrayBuffer,
  lines: LogLines,
): Parameters<typeof startWriter>[0] {
  const { data: dataDirectory, publishHost: host, publishPort: port, judge, carrier } = settings
  const { tokens, balances, acceptClock, writerClock: clock } = settings
  const sent = { dataDirectory, head, host, port, tokens, balances, acceptClock, clock }
  return {
    ...sent,
    keys: settings.signing.keys,
    judge: judge === null ? null : { module: judge.module, settings: judge.settings },
    carrier: carrier?.settings ?? null,
    tellsAccepted: lines.choice().level === 'debug',
  }
}

/** Waits for the writer. A refusal of the settings becomes a usage error. */
async function orRefused(starting: Promise<Writer>, { stop }: CommandContext): Promise<Writer> {
  try {
    return await starting
  } catch (error) {
    if (error instanceof WriterRefusal)
      throw new (stop.aborted ? CommandError : UsageError)(error.message, { cause: error })
    throw error
  }
}
