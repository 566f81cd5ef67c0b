import type { OtherWriters } from '../marks/other-writers.ts'
import type { ReplicaClock } from './replica-clock.ts'

/** Lets competing writers take turns: whoever has just won a place waits a moment while others want one. */
export type AppendPace = Readonly<{
  won(tookMs: number): void
  lost(tookMs: number): void
  /** Milliseconds until the next attempt may begin. */
  waitMs(): number
}>

/** Share of a new measurement in the average duration of an append. */
const NEWEST_SHARE = 0.2
/** Pause after a won place, in durations of an append: a loser reads the place and appends in less. */
const TURN = { least: 1.5, spread: 1.5 } as const
/** Longest such pause, in milliseconds. An attempt takes little more than a second. */
const TURN_MS_MAX = 2000
/** Time in vain after which a loser is slower than its turns are long. The pause grows by it until the loser has won. */
const PATIENCE_MS = 250
/** Pause after a lost place, at most, in durations of an append. It parts losers from each other. */
const RETRY_SPREAD = 0.5

export function openAppendPace(writers: OtherWriters, random: () => number, clock: ReplicaClock): AppendPace {
  let averageMs = 0
  let readyMs = Number.NEGATIVE_INFINITY

  function pauseFor(tookMs: number, turns: number, moreMs = 0): void {
    averageMs = averageMs === 0 ? tookMs : averageMs + (tookMs - averageMs) * NEWEST_SHARE
    readyMs = clock.now() + Math.min(averageMs * turns + moreMs, TURN_MS_MAX)
  }

  return {
    won(tookMs) {
      if (!writers.contend()) return pauseFor(tookMs, 0)
      const vainMs = writers.inVainMs()
      pauseFor(tookMs, TURN.least + TURN.spread * random(), vainMs < PATIENCE_MS ? 0 : vainMs)
    },
    lost: (tookMs) => pauseFor(tookMs, RETRY_SPREAD * random()),
    waitMs: () => Math.max(0, readyMs - clock.now()),
  }
}
