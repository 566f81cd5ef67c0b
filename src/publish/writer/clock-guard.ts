import type { Ms } from '../../protocol/moment.ts'

/** Difference in milliseconds from which the clock is not trusted (PROTOCOL.md, section 1). */
const CLOCK_DIFFERENCE_MS_MAX = 60_000

export const CLOCK_FAULTS = ['stepped', 'behind-head'] as const
/** Reason why publishing is refused: the clock was set during the run, or it is behind the newest event. */
export type ClockFault = (typeof CLOCK_FAULTS)[number]

/**
 * Guard of the wall clock. Compares it with the monotonic clock since the start, and with the newest event until this
 * node has published one.
 */
export type ClockGuard = Readonly<{
  /** Current fault of the clock; null when it can be trusted. */
  fault(): ClockFault | null
  /** Must be called when this node has published an event. */
  committed(): void
}>

type ClockGuardSettings = Readonly<{
  now(): Ms
  monotonicMs(): number
  /** `at` of the newest event; null while there is none. A carried log gets its newest events after the start. */
  headAtMs(): Ms | null
  /** Whether a clock that is behind the newest event is accepted (`--accept-clock`). */
  accepted: boolean
  /** Called when the fault changes; null when the clock can be trusted again. */
  onChange(fault: ClockFault | null): void
}>

/**
 * Opens the guard of the writer's clock. `at` never decreases, so one event with a wrong clock would set the moment of
 * all later events. The monotonic clock stops while the machine sleeps, so a sleep of a minute counts as a step.
 */
export function openClockGuard(settings: ClockGuardSettings): ClockGuard {
  const { now, monotonicMs, headAtMs, accepted, onChange } = settings
  const epochMs = now() - monotonicMs()
  let known: ClockFault | null = null
  let looksAtHead = !accepted

  function look(): ClockFault | null {
    const wallMs = now()
    if (Math.abs(wallMs - monotonicMs() - epochMs) >= CLOCK_DIFFERENCE_MS_MAX) return 'stepped'
    const headMs = looksAtHead ? headAtMs() : null
    return headMs !== null && headMs - wallMs > CLOCK_DIFFERENCE_MS_MAX ? 'behind-head' : null
  }

  return {
    fault() {
      const found = look()
      if (found !== known) onChange(found)
      known = found
      return found
    },
    committed: () => void (looksAtHead = false),
  }
}
