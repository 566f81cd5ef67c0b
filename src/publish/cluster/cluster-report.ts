import type { Unpublishable, WriterFault } from '../../protocol/cluster-resource.ts'
import type { OwnMark } from '../replica/marking.ts'
import type { ReplicaState } from '../replica/replica.ts'
import { UNSETTLED_MS_MAX } from '../replica/append-line.ts'
import { OFFSET_MS_MAX } from '../replica/engine-guard.ts'
import { AWAY_MS } from '../marks/other-writers.ts'

/** Another writer of the log, as its last mark says. */
type ReportedWriter = Readonly<{
  name: string
  /** Events of its log. */
  seq: number
  /** Milliseconds since its last mark. */
  heardMs: number
  isSilent: boolean
  fault: WriterFault | null
}>

/** Report of a node about itself, the engine and the other writers. */
export type ClusterReport = Readonly<{
  node: string
  leads: boolean
  /** Reason why no drafts are taken; null when they are. */
  refusal: Unpublishable | null
  /** Messages that the engine has, and that this node has not applied yet. */
  lag: number
  unsettledMs: number | null
  unknownTotal: number
  voidTotal: number
  refusedMarks: number
  writers: readonly ReportedWriter[]
  /** The engine's clock minus ours; null before it was measured, and when that was too long ago. */
  offsetMs: number | null
  /** Faults of the settings of the engine. They may name machines, so they are not public. */
  faults: readonly string[]
}>

/** Most writers that are reported without a mark: the file of known writers may have any number of names. */
const UNHEARD_MAX = 64

export function clusterReport(
  { node, rules }: Pick<OwnMark, 'node' | 'rules'>,
  leads: boolean,
  state: ReplicaState,
  nowMs: number,
): ClusterReport {
  const { marks, engine, end, last, silent } = state
  const sharedBy = (name: string): WriterFault | null =>
    state.twins.find(({ names }) => names.includes(name))?.shared ?? null
  // A mark of this node's last run is not one of another writer.
  const others = marks.filter(({ mark }) => mark.node !== node || sharedBy(node) !== null)
  const writers = others.map(({ mark, atMs }): ReportedWriter => {
    const heardMs = Math.max(0, nowMs - atMs)
    const fault = sharedBy(mark.node) ?? (mark.rules === rules ? null : 'settings')
    return { name: mark.node, seq: mark.seq, heardMs, isSilent: heardMs > AWAY_MS, fault }
  })
  const heard = new Set(writers.map(({ name }) => name))
  const unheard = silent.filter((name) => !heard.has(name))
  return {
    node,
    leads,
    refusal: publishingFault(state),
    lag: Math.max(0, last - end.place),
    unsettledMs: state.unsettledMs,
    unknownTotal: state.unknownTotal,
    voidTotal: state.voidTotal,
    refusedMarks: state.refusedMarks,
    writers: [
      ...writers,
      ...unheard.slice(0, UNHEARD_MAX).map((name) => ({
        name,
        seq: 0,
        heardMs: Number.POSITIVE_INFINITY,
        isSilent: true,
        fault: null,
      })),
    ].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    offsetMs: engine.offset?.offsetMs ?? null,
    faults: engine.complaints ?? [],
  }
}

/** Reason why a replica takes no commits now; null when it does. */
export function publishingFault(state: ReplicaState): Unpublishable | null {
  const { stopped, isFailing, isHeard, engine, unsettledMs, twins } = state
  if (stopped !== null) return stopped.is === 'fork' || stopped.is === 'lost' ? 'forked' : 'stopped'
  if (isFailing) return 'disk'
  if (twins.some(({ isOurs }) => isOurs)) return 'twin'
  if ((unsettledMs ?? 0) > UNSETTLED_MS_MAX) return 'unsettled'
  if (engine.offset !== null && Math.abs(engine.offset.offsetMs) >= OFFSET_MS_MAX) return 'clock'
  if (engine.complaints !== null && engine.complaints.length > 0) return 'engine'
  if (!isHeard) return 'starting'
  if (engine.isOld !== null) return engine.isOld
  if (engine.offset === null || engine.complaints === null) return 'starting'
  return null
}
