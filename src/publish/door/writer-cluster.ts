import { readIdentity, StoreError } from '../../log/store/store.ts'
import { isDiskFull } from '../../log/store/disk-probe.ts'
import { isOfMachine } from '../../log/store/sqlite-error.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import { noticeOf } from '../cluster/cluster-notice.ts'
import { clusterReport, publishingFault } from '../cluster/cluster-report.ts'
import type { SharedLog } from '../cluster/shared-log.ts'
import { openSharedLog } from '../cluster/shared-log.ts'
import type { FromWriter, WriterSettings } from './writer-messages.ts'
import type { WriterState } from './writer-state.ts'

/** Time between two reports about the cluster. */
const REPORT_MS = 1_000
/** Number of names of runs, so that no two runs are likely to share one. */
const RUNS = 2 ** 48

/** Parts of this thread that the cluster needs. */
type ClusterSurroundings = Readonly<{
  state: WriterState
  say(message: FromWriter): void
  nowMs(): number
  monotonicMs(): number
  random(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}>

/**
 * Opens the log that an engine carries; null for a log of this node alone, when the node stops before it has joined, and
 * when the start is refused.
 */
export async function openSharedOf(
  settings: WriterSettings,
  { state, say, ...clocks }: ClusterSurroundings,
): Promise<SharedLog | null> {
  const { dataDirectory, logStore, keys, finality, program } = settings
  if (logStore === null) return null
  try {
    const shared = await openSharedLog({
      dataDirectory,
      logStore,
      keys,
      asksChain: finality !== null,
      program,
      rules: rulesOf(settings),
      run: Math.floor(clocks.random() * RUNS).toString(36),
      ...clocks,
      signal: state.stopped,
      accepts: state.accepting,
      isDiskFull: (bytes) => isDiskFull(dataDirectory, bytes),
      onFull: state.full,
      onBroken: (error) => state.breakDown(`${error.message}: ${errorMessage(error.cause)}`),
      onNotice: (notice) => say({ is: 'replica', notice: noticeOf(notice) }),
      onRefused: (reason) => say({ is: 'replica', notice: { is: 'unconnected', reason } }),
    })
    const { chain } = readIdentity(shared.db)
    if (finality === null || finality.chain === chain) return shared
    throw new StoreError(`--finality: this log has --chain ${chain}, not ${finality.chain}`)
  } catch (error) {
    if (state.isStopping()) return null
    if (!(error instanceof StoreError)) throw error
    say({ is: isOfMachine(error.cause) ? 'unusable' : 'refused', reason: error.message })
    return null
  }
}

/** Whether the machines that keep the log take drafts of this node now. */
export function isPublishable(shared: SharedLog | null): boolean {
  if (shared === null) return true
  const state = shared.state()
  return state !== null && publishingFault(state) === null
}

/** Settings by which drafts are published, which must be the same on all writers of a log. */
function rulesOf({ balances, finality }: Pick<WriterSettings, 'balances' | 'finality'>): string {
  return `--balances ${balances}, ${finality === null ? 'no --finality' : `--finality ${finality.chain}`}`
}

/** Leaves the log, and tells whether a commit of this node has no outcome yet. */
export async function endShared(shared: SharedLog | null, say: ClusterSurroundings['say']): Promise<void> {
  if ((shared?.state()?.unsettledMs ?? null) !== null) say({ is: 'replica', notice: { is: 'left' } })
  await shared?.[Symbol.asyncDispose]()
}

/** Tells the main thread every second what the node knows of its cluster. */
export function reportCluster(
  settings: WriterSettings,
  shared: SharedLog | null,
  { say, monotonicMs }: Pick<ClusterSurroundings, 'say' | 'monotonicMs'>,
): Disposable {
  const own = { node: settings.logStore?.nodeName ?? '', rules: rulesOf(settings) }
  const tell = (): void => {
    const state = shared?.state() ?? null
    if (shared === null || state === null) return
    const report = clusterReport(own, shared.leads(), state, monotonicMs())
    say({ is: 'cluster', report })
  }
  const timer = shared === null ? undefined : setInterval(tell, REPORT_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
