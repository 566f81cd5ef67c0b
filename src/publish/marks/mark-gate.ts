import type { RunningClock } from './other-writers.ts'
import type { MarkKeys, OpenedMark } from './sealed-mark.ts'
import { openMark } from './sealed-mark.ts'

/** Lets the marks of this log's nodes in, and nothing else. */
type MarkGate = Readonly<{
  /** The mark; null for one that no node of this log has told just now. */
  open(bytes: Uint8Array): OpenedMark | null
  /** Number of marks that it has refused so far. */
  refusedTotal(): number
}>

/** Difference of two clocks up to which a mark counts as told just now: a node with a worse clock takes no drafts. */
const MARK_AGE_MS_MAX = 15_000
/** Most marks that are verified in a second. A stranger who sends more takes no more time of this node. */
const VERIFIED_MAX = 500
const SECOND_MS = 1000

type GateParts = Readonly<{
  clock: RunningClock
  logId: string
  keys(): MarkKeys
  /** The engine's clock as far as it is known: milliseconds since 1970. */
  engineMs(): number
}>

export function openMarkGate({ clock, logId, keys, engineMs }: GateParts): MarkGate {
  let refusedTotal = 0
  let verified = 0
  let secondMs = clock.now()

  function mayVerify(): boolean {
    if (clock.now() - secondMs >= SECOND_MS) {
      secondMs = clock.now()
      verified = 0
    }
    verified += 1
    return verified <= VERIFIED_MAX
  }

  return {
    open(bytes) {
      const opened = mayVerify() ? openMark(bytes, logId, keys()) : null
      const isPresent = opened !== null && Math.abs(engineMs() - opened.mark.atMs) <= MARK_AGE_MS_MAX
      if (!isPresent) refusedTotal += 1
      return isPresent ? opened : null
    },
    refusedTotal: () => refusedTotal,
  }
}
