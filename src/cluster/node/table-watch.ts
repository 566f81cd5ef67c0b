import type { Look, PrimaryIdentity } from '../table/log-table.ts'
import type { NodeNotice } from './cluster-node.ts'

/** Time after a change of the table in which nobody appends. A connected node puts its newer rows back meanwhile. */
const SETTLE_MS = 15_000
/** Time in which a node that has lost the lead does not try again. */
const PENALTY_MS = 30_000
/** Time without a leader after which even such a node tries. */
const UNLED_MS = 3_000

/** State of the table as a node has read it, and whether the node may lead. */
export type TableWatch = Readonly<{
  /** Records a read by a node whose newest row is at the place `applied`. */
  note(look: Look, applied: number): void
  /** Records that this node has lost the lead, or could not take over. */
  failed(): void
  /** Reason why a node whose newest row is at this place must not try to lead now; null when it may. */
  refusalToTry(applied: number): string | null
  /** Reason why nobody may append after this place now; null when one may. */
  refusalToAppend(end: number): string | null
  /** Newest place in the last read; 0 before the first one. */
  last(): number
  isLed(): boolean
  /** Whether this node's newest row was compared with the table since its start and since the last change. */
  isCompared(): boolean
  compared(): void
}>

type WatchSettings = Readonly<{
  primary: PrimaryIdentity | null
  now(): number
  onNotice(notice: NodeNotice): void
}>

export function openTableWatch({ primary, now, onNotice }: WatchSettings): TableWatch {
  let server = primary
  let last = 0
  let shown = 0
  let isLed = true
  let isShort = false
  let isCompared = false
  let changedMs = Number.NEGATIVE_INFINITY
  let unledMs: number | null = null
  let failedMs = Number.NEGATIVE_INFINITY

  function changed(reason: string): void {
    changedMs = now()
    isCompared = false
    onNotice({ is: 'changed', reason })
  }

  function refusalToAppend(end: number): string | null {
    if (shown > end)
      return `another node has rows up to place ${shown}, which the table lacks: it puts them back first`
    if (now() < changedMs + SETTLE_MS)
      return 'the table has changed: nodes that have newer rows put them back first'
    return null
  }

  return {
    note(look, applied) {
      const before = last
      const wasShort = isShort
      const { timeline } = look.server
      const isOther =
        server !== null && (server.systemId !== look.server.systemId || server.timeline !== timeline)
      last = look.last
      shown = look.shown
      isLed = look.isLed
      isShort = last < applied
      server = look.server
      unledMs = isLed ? null : (unledMs ?? now())
      if (isOther) changed(`the database is on timeline ${timeline}`)
      if (last < before || (isShort && !wasShort))
        changed(`the table ends at place ${last}, and had rows up to ${Math.max(before, applied)}`)
    },
    failed: () => void (failedMs = now()),
    refusalToTry(applied) {
      if (isLed) return 'another node leads'
      const isPatient = unledMs !== null && now() - unledMs >= UNLED_MS
      if (now() < failedMs + PENALTY_MS && !isPatient) return 'this node has just lost the lead'
      return applied > last ? null : refusalToAppend(last)
    },
    refusalToAppend,
    last: () => last,
    isLed: () => isLed,
    isCompared: () => isCompared,
    compared: () => void (isCompared = true),
  }
}
