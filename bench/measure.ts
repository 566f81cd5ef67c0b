/** What was measured of one question, in milliseconds. */
export type Timing = Readonly<{ median: number; p99: number; max: number }>

/** A goal is held by all but the slowest hundredth: the very slowest tells more of the machine than of us. */
export function isHeld(timing: Timing, goalMs: number): boolean {
  return timing.p99 <= goalMs
}

export function timingOf(samples: readonly number[]): Timing {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { median: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}

/** Times `runs` calls of what `prepare` gives; what it does itself is not counted, nor are the first calls. */
export function measure(runs: number, prepare: () => () => unknown): Timing {
  const samples: number[] = []
  for (let run = -WARM_UP; run < runs; run++) {
    const call = prepare()
    const beganMs = performance.now()
    call()
    if (run >= 0) samples.push(performance.now() - beganMs)
  }
  return timingOf(samples)
}

/** The same of calls that take their time elsewhere. */
export async function measureAsync(runs: number, prepare: () => () => Promise<unknown>): Promise<Timing> {
  const samples: number[] = []
  for (let run = -WARM_UP; run < runs; run++) {
    const call = prepare()
    const beganMs = performance.now()
    await call()
    if (run >= 0) samples.push(performance.now() - beganMs)
  }
  return timingOf(samples)
}

/** Calls before the first that counts: compiled code is what a service runs. */
const WARM_UP = 20
