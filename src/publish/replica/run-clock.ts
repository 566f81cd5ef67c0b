import type { GuardReport } from './engine-guard.ts'
import type { ReplicaClock } from './replica-clock.ts'

/** Time of the engine, as far as it is known here, by which writers on several machines compare moments. */
export type RunClock = Readonly<{
  /** Milliseconds since 1970. */
  engineMs(): number
  /** Moment at which the run of this node began. */
  sinceMs(): number
  /** Whether the clocks were compared yet: before that, this is the clock of this machine. */
  isKnown(): boolean
}>

export function openRunClock(
  nowMs: () => number,
  clock: ReplicaClock,
  guard: Readonly<{ report(): GuardReport }>,
): RunClock {
  const openedMs = clock.now()
  const engineMs = (): number => Math.round(nowMs() + (guard.report().offset?.offsetMs ?? 0))
  return {
    engineMs,
    sinceMs: () => Math.round(engineMs() - (clock.now() - openedMs)),
    isKnown: () => guard.report().offset !== null,
  }
}
