/**
 * What was measured of one question, in milliseconds. `cpu` is the processor time of the calling thread in all but
 * the slowest hundredth: what the machine did for others meanwhile is not in it. Null where others did the work.
 */
export type Timing = Readonly<{ median: number; p99: number; max: number; cpu: number | null }>

/**
 * A goal is held by all but the slowest hundredth: the very slowest tells more of the machine than of us. `busy`
 * is what would have held it on a machine that did nothing else.
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

/** The sample below which a share of all lies. */
export function share(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

/**
 * Times calls of what `prepare` gives: at most `runs`, and no more than fit into a second and a half once there are
 * enough. What `prepare` does itself is not counted, nor are the first calls.
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

/** The same of calls that take their time elsewhere. */
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

/** Calls before the first that counts: compiled code is what a service runs. */
const WARM_UP = 10
/** Milliseconds of one question's calls, once there are enough of them. */
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
