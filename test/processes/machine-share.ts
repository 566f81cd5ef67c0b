/** Processor time of one measurement. */
const SPIN_MICROS = 2_000
const PAUSE_MS = 50

/** Measures how much of a processor this process gets while others load the machine. */
type MachineShare = Readonly<{
  /** Duration of computing as a multiple of that on an idle machine: 1 or more. Ends the measurement. */
  slowness(): number
}>

export function measureShare(): MachineShare {
  let [tookMs, usedMicros] = [0, 0]
  const spin = (): void => {
    const [startMs, start] = [performance.now(), usedNow()]
    let used = 0
    while (used < SPIN_MICROS) used = usedNow() - start
    tookMs += performance.now() - startMs
    usedMicros += used
  }
  spin()
  const timer = setInterval(spin, PAUSE_MS).unref()
  return {
    slowness() {
      clearInterval(timer)
      return Math.max(1, (tookMs * 1_000) / usedMicros)
    },
  }
}

function usedNow(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
