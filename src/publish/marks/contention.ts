import type { WriterMark } from './writer-mark.ts'

/** Places that the other writers have lost, as their marks say. */
type Contention = Readonly<{
  note(mark: Pick<WriterMark, 'run' | 'contends'>): void
  /** Whether one of them has lost a place within `CONTENTION_MS`. */
  isOn(): boolean
  /** Longest time for which one of them has lost places and won none, in milliseconds. */
  inVainMs(): number
}>

/** Time for which a lost place of another writer counts, in milliseconds. */
const CONTENTION_MS = 1000
/**
 * Time after which a loser that tells of no further loss is forgotten. A slow writer takes more than a second from one loss
 * to the next.
 */
const LOSER_MS = 4000

export function openContention(clock: Readonly<{ now(): number }>): Contention {
  let lostMs = Number.NEGATIVE_INFINITY
  /** The first and the last place that each run has lost since it won one. */
  const losers = new Map<string, Readonly<{ firstMs: number; lastMs: number }>>()

  /** Forgets runs that have lost no place lately. */
  function forget(): void {
    for (const [run, { lastMs }] of losers) if (clock.now() - lastMs >= LOSER_MS) losers.delete(run)
  }

  return {
    note({ run, contends }) {
      forget()
      // A mark that names no lost place is told after a won one, and now and then.
      if (!contends) return void losers.delete(run)
      lostMs = clock.now()
      losers.set(run, { firstMs: losers.get(run)?.firstMs ?? lostMs, lastMs: lostMs })
    },
    isOn: () => clock.now() - lostMs < CONTENTION_MS,
    inVainMs() {
      forget()
      return [...losers.values()].reduce((most, { firstMs }) => Math.max(most, clock.now() - firstMs), 0)
    },
  }
}
