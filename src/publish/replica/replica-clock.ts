/** Time of a replica. */
export type ReplicaClock = Readonly<{
  /** Milliseconds of the monotonic clock. */
  now(): number
  /** Sleeps for so long, or until the replica is closed. Never throws. */
  pause(ms: number): Promise<void>
  /** The answer, or what `late` returns or throws when there is none in time. */
  within<Answer>(ms: number, answer: Promise<Answer>, late: () => Answer | Promise<Answer>): Promise<Answer>
}>

/** The clock and timers of the runtime. */
export type Timers = Readonly<{
  now(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}>

/** Opens a clock whose pauses end when the signal is aborted. */
export function openReplicaClock({ now, sleep }: Timers, closing: AbortSignal): ReplicaClock {
  return {
    now,
    pause: (ms) =>
      sleep(ms, closing).then(
        () => undefined,
        () => undefined,
      ),
    async within(ms, answer, late) {
      const answered = new AbortController()
      const lapse = sleep(ms, answered.signal).then(late)
      try {
        return await Promise.race([answer, lapse])
      } finally {
        answered.abort()
        // The loser of the race may still fail, and nobody waits for it.
        for (const loser of [answer, lapse]) loser.catch(() => undefined)
      }
    },
  }
}

/** Wakes the loop of a replica. */
export type LoopBell = Readonly<{
  ring(): void
  /** Forgets the rings so far. Whoever waits looks around after this, and waits then. */
  quiet(): void
  /** Settles at the next ring, or at once if one came since `quiet`. */
  rung(): Promise<void>
}>

export function openLoopBell(): LoopBell {
  let isRung = false
  let wake = (): void => undefined
  return {
    ring() {
      isRung = true
      wake()
    },
    quiet: () => void (isRung = false),
    rung: () =>
      new Promise((resolve) => {
        wake = resolve
        if (isRung) resolve()
      }),
  }
}
