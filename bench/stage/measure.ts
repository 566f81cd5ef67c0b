/**
 * Times of one question in milliseconds. `cpu` is the 99th percentile of the calling thread's processor time, without
 * work of other processes; null when other threads did the work.
 */
export type Timing = Readonly<{ median: number; p99: number; max: number; cpu: number | null }>

/**
 * Verdict on a goal for the 99th percentile, since the slowest 1% depend on the machine. `busy` means that the goal
 * would be met on an idle machine.
 */
export function verdict(goalMs: number, own: Timing, http: Timing | null): 'OK' | 'busy' | 'OVER' {
  if (own.p99 <= goalMs && (http === null || http.p99 <= goalMs)) return 'OK'
  return (own.cpu ?? own.p99) <= goalMs && (http === null || http.median <= goalMs) ? 'busy' : 'OVER'
}

function timingOf(samples: readonly number[], cpuSamples: readonly number[] = []): Timing {
  return {
    median: share(samples, 0.5),
    p99: share(samples, 0.99),
    max: share(samples, 1),
    cpu: cpuSamples.length === 0 ? null : share(cpuSamples, 0.99),
  }
}

/** The sample at a quantile from 0 to 1. */
export function share(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

/**
 * Times calls of the functions that `prepare` returns: at most `runs`, and at most 1.5 s after the first ones. Neither
 * `prepare` nor the warm-up calls count.
 */
export function measure(runs: number, prepare: () => () => unknown): Timing {
  const meter = openMeter(runs)
  while (meter.goesOn()) {
    const call = prepare()
    const beganMs = performance.now()
    const cpuBegan = process.threadCpuUsage()
    call()
    const { user, system } = process.threadCpuUsage(cpuBegan)
    meter.note(performance.now() - beganMs, (user + system) / 1000)
  }
  return meter.timing()
}

/** Times asynchronous calls, without processor time. */
export async function measureAsync(runs: number, prepare: () => () => Promise<unknown>): Promise<Timing> {
  const meter = openMeter(runs)
  while (meter.goesOn()) {
    const call = prepare()
    const beganMs = performance.now()
    await call()
    meter.note(performance.now() - beganMs)
  }
  return meter.timing()
}

/** Uncounted first calls, so that the code is compiled. */
const WARM_UP = 10
/** Time limit of one question's calls, applied after a minimum of calls. */
const BUDGET_MS = 1_500
const ENOUGH = 20

type Meter = Readonly<{ goesOn(): boolean; note(tookMs: number, cpuMs?: number): void; timing(): Timing }>

function openMeter(runs: number): Meter {
  const samples: number[] = []
  const cpuSamples: number[] = []
  let calls = 0
  let spentMs = 0
  return {
    goesOn: () => samples.length < runs && (samples.length < ENOUGH || spentMs < BUDGET_MS),
    note(tookMs, cpuMs) {
      if (calls++ < WARM_UP) return
      spentMs += tookMs
      samples.push(tookMs)
      if (cpuMs !== undefined) cpuSamples.push(cpuMs)
    },
    timing: () => timingOf(samples, cpuSamples),
  }
}
