import { Counter, type Registry } from 'prom-client'
import type { FromMirror } from './mirror-messages.ts'
import type { MirrorState } from '../mirror-watch.ts'
import type { MirrorSettings } from '../mirror-settings.ts'
import { readyToFollow } from '../../publish/api/operations.ts'
import { openAuditLines, openCrowdedReport, watchBackups } from '../../command/log-lines/node-lines.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import {
  AUDIT_PACE,
  auditOnce,
  type AuditPace,
  forgetFault,
  hasFault,
  keepFault,
  startAudits,
} from '../../command/service/background-audit.ts'
import { sayStopping, sayWrong } from '../../command/service/front-memory.ts'
import { openReportCell, type ReportCell } from '../../serve/following/report-cell.ts'
import {
  openNodeRegistry,
  openNodeReport,
  type Serving,
  watchNode,
} from '../../command/service/node-report.ts'
import {
  drainThreads,
  type NodeSettings,
  openMainFront,
  planThreads,
  startThreads,
} from '../../command/service/node-threads.ts'
import { openParquetMonths } from '../../command/service/parquet-months.ts'
import { openAuditMetrics } from '../../command/service/service-metrics.ts'
import { orTaken } from '../../command/service/taken-port.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'
import type { MirrorReport } from '../../serve/api/api-routes.ts'
import { startMirrorWorker } from './mirror-worker.ts'
import type { MirrorWitness } from '../../command/plug/option.ts'
import { openProvedLog } from './proved-log.ts'
import { OPERATIONS_CONNECTIONS_MAX, startOperations } from '../../command/plug/operations-listener.ts'
import { openHeadCell } from '../../log/head-cell.ts'
import { gauge } from '../../serve/metrics/metrics.ts'
import type { Mirror } from '../../protocol/endpoints/description-endpoints.ts'
import { moment, type Ms } from '../../protocol/moment.ts'

/** Settings of `mirror`, already checked. */
export type ServedMirrorSettings = Omit<NodeSettings, 'asksChain' | 'following' | 'mirrorOf'> &
  Readonly<{
    /** The followed service, and the proof of its log. */
    followed: Omit<MirrorSettings, 'now' | 'around'>
    /** Public address of the origin. */
    mirrorOf: string
    opsHost: string
    opsPort: number
    /** Witness of the mirror; null when the mirror does not cosign. */
    witness: MirrorWitness | null
    /** Longest time that a checkpoint to cosign waits for its proof; by default that of `openProvedLog`. */
    proofWaitMsMax?: number
    /** Whether to hash the whole log before the first answer too, not only in the background. */
    verifyFirst: boolean
    /** Pace of the background audits; `AUDIT_PACE` if absent. */
    auditPace?: AuditPace
  }>

/** Served mirror. `broken` resolves with the reason when it must stop by itself. */
export type ServedMirror = AsyncDisposable &
  Readonly<{
    port: number
    opsPort: number
    /** Null when the mirror does not cosign. */
    witnessPort: number | null
    head(): number
    broken: Promise<string>
  }>

/**
 * Serves a built mirror, and follows its origin. The caller holds the lock of the directory. Resolves when it listens.
 */
export async function startMirror(
  settings: ServedMirrorSettings,
  context: CommandContext,
  lines: LogLines,
): Promise<ServedMirror> {
  await using stack = new AsyncDisposableStack()
  const { data } = settings
  const audits = openAuditLines(lines, context.monotonicMs)
  if (settings.verifyFirst || hasFault(data)) await auditOnce(data, context, audits)
  forgetFault(data)
  const plan = planThreads({ ...settings, asksChain: false, following: true }, context, lines)
  const { memory } = plan
  const registry = openNodeRegistry(settings)
  const broken = Promise.withResolvers<string>()
  const received = openReceiver(settings, openReportCell<MirrorFigures>(memory.mirror), registry, lines)

  // The thread starts first, because it sets the initial head of the fronts. Its writing connection is the first of the
  // process.
  const { head, barrier } = memory
  const followed = { ...settings.followed, head, barrier }
  const worker = await startMirrorWorker(followed, { onMessage: received.take, onBroken: broken.resolve })
  stack.use(worker)
  const isStopped = (): boolean => !received.checks().origin_agrees
  const proved = {
    data,
    head: openHeadCell(memory.head),
    isStopped,
    onFork: worker.show,
    waitMsMax: settings.proofWaitMsMax,
  }
  const witness = settings.witness?.open(stack.use(openProvedLog(proved, context)), {
    registry,
    lines,
    context,
  })
  if (witness !== undefined) stack.use(witness)
  const parquet = stack.use(openParquetMonths({ data, lines, registry, monotonicMs: context.monotonicMs }))
  const front = await openMainFront(plan, { context, lines, registry, parquet })
  stack.use(front)
  const threads = await startThreads(plan, front, { lines, parquet, broken: broken.resolve })
  stack.use(threads)
  stack.use(parquet.watch(front.reader))
  const serving: Serving = { reader: front.reader, threads }
  const report = openNodeReport({
    memory,
    registry,
    lines,
    serving: () => serving,
    otherChecks: received.checks,
  })
  watchNode(registry, front, report, null)
  const opening = startOperations({
    host: settings.opsHost,
    port: settings.opsPort,
    answer: (path) => report.answer(path, false),
    following: () => readyToFollow(received.checks().following),
    onCrowded: openCrowdedReport('private', OPERATIONS_CONNECTIONS_MAX, { ...context, lines, registry }),
  })
  const operations = await orTaken('--ops-port', opening)
  stack.use(operations)
  stack.use(watchBackups(data, lines))
  const audited = openAuditMetrics(registry, context.now)
  stack.use(
    startAudits(data, settings.auditPace ?? AUDIT_PACE, [audits, { audited }], (reason) => {
      sayWrong(memory)
      void worker.kill()
      broken.resolve(keepFault(data, reason))
    }),
  )
  stack.defer(async () => {
    sayStopping(memory)
    await drainThreads(front, threads)
  })
  const listener = await witness?.listen({ host: settings.opsHost, port: operations.port })
  if (listener !== undefined) stack.use(listener)
  const owned = stack.move()
  return {
    port: front.port,
    opsPort: operations.port,
    witnessPort: listener?.port ?? null,
    head: () => front.reader.head().seq,
    broken: broken.promise,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type MirrorFigures = Omit<MirrorReport, 'version'>

type Receiver = Readonly<{
  /** Receives a message of the thread that follows the origin. */
  take(message: Exclude<FromMirror, { is: 'broken' }>): void
  /** Checks of `/readyz` about following. */
  checks(): Readonly<{ following: boolean; origin_agrees: boolean }>
}>

/** Opens the receiver of the thread's messages, which update the mirror's report, metrics and log lines. */
function openReceiver(
  { mirrorOf }: ServedMirrorSettings,
  cell: ReportCell<MirrorFigures>,
  registry: Registry,
  lines: LogLines,
): Receiver {
  let state: MirrorState | null = null
  const metrics = openMirrorMetrics(registry, () => state)
  return {
    take(message) {
      switch (message.is) {
        case 'state':
          ;({ state } = message)
          return cell.write(mirrorReportOf(state, mirrorOf))
        case 'committed': {
          const { events, seq } = message.commit
          metrics.committed(events)
          return lines.say('mirrored', { events, last: seq })
        }
        case 'fault':
          if (message.reason === null) return lines.say('origin-back', {})
          return lines.say('origin-lost', { reason: message.reason })
        case 'contradicted': {
          const { reason, evidence } = message.found
          return lines.say('origin-contradicts', { reason, evidence })
        }
      }
    },
    checks() {
      const report = cell.read()?.mirror.state
      return { following: report === 'following', origin_agrees: report !== 'stopped' }
    },
  }
}

/** Registers the metrics of a mirror. The state is null before the thread has sent it. */
function openMirrorMetrics(
  registry: Registry,
  state: () => MirrorState | null,
): Readonly<{ committed(events: number): void }> {
  const seconds = (ms: number | null | undefined): number => (ms ?? 0) / 1_000
  gauge(
    registry,
    'daybook_mirror_behind_events',
    'Events that the origin has shown and this mirror has not proved',
    () => state()?.behindEvents ?? 0,
  )
  gauge(
    registry,
    'daybook_mirror_behind_seconds',
    'Most seconds by which answers of this mirror may be late',
    () => seconds(state()?.behindMs),
  )
  gauge(
    registry,
    'daybook_mirror_proved_timestamp_seconds',
    'When the origin last showed a checkpoint that agrees with this mirror; 0 before the first',
    () => seconds(state()?.provedAt),
  )
  gauge(
    registry,
    'daybook_mirror_contact_timestamp_seconds',
    'When the origin last answered; 0 before the first answer',
    () => seconds(state()?.lastContactAt),
  )
  gauge(
    registry,
    'daybook_mirror_contradicted',
    '1 when the origin contradicts what it signed, and is followed no longer',
    () => ((state()?.contradicted ?? null) === null ? 0 : 1),
  )
  const events = new Counter({
    name: 'daybook_mirror_events_total',
    help: 'Events taken from the origin and proved since the start',
    registers: [registry],
  })
  return { committed: (count) => events.inc(count) }
}

/** Report for `/status` and the pages. `of` is the public address of the origin. */
function mirrorReportOf(state: MirrorState, of: string): Omit<MirrorReport, 'version'> {
  const [provedAt, provedAtMs] = pairOf(state.provedAt)
  const [contactAt, contactAtMs] = pairOf(state.lastContactAt)
  const [heldAt, heldAtMs] = pairOf(state.held?.notedAt ?? null)
  const mirror: Mirror = {
    of,
    state: stateOf(state),
    reason: state.contradicted === null ? state.waits : null,
    originSeq: state.originHead,
    behindEvents: state.behindEvents,
    behindMs: state.behindMs,
    provedAt,
    provedAtMs,
    contactAt,
    contactAtMs,
    upstream: state.upstream,
    keys: state.pinned,
    keysFrom: state.pinnedOnFirstUse ? 'first_use' : 'operator',
    heldAt,
    heldAtMs,
    contradiction: state.contradicted?.reason ?? null,
  }
  return { mirror, finality: state.held?.counts ?? null }
}

function stateOf({ contradicted, waits }: MirrorState): Mirror['state'] {
  if (contradicted !== null) return 'stopped'
  return waits === null ? 'following' : 'waiting'
}

function pairOf(ms: Ms | null): readonly [string | null, number | null] {
  if (ms === null) return [null, null]
  const { at, atMs } = moment(ms)
  return [at, atMs]
}
