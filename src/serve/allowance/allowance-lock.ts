/** Attempts before sleeping. A holder releases the lock within a microsecond unless its thread is not running. */
const SPINS = 100

/** Milliseconds of one sleep. A missed wake-up costs no more than this. */
const SLEEP_MS = 50

/** Sleeps without a wake-up after which the holder counts as dead: about five seconds. */
const SLEEPS_MAX = 100

const FREE = 0
const HELD = 1
const AWAITED = 2

/**
 * Runs a short synchronous section under the lock of a word. One thread at a time holds the lock. Throws if the holder
 * does not release it for seconds: its thread died inside, so its state cannot be trusted.
 */
export function locked<T>(words: Int32Array, at: number, section: () => T, sleepMs: number = SLEEP_MS): T {
  if (Atomics.compareExchange(words, at, FREE, HELD) !== FREE) acquire(words, at, sleepMs)
  try {
    return section()
  } finally {
    // Only a lock with a sleeping waiter costs a system call.
    if (Atomics.exchange(words, at, FREE) === AWAITED) Atomics.notify(words, at, 1)
  }
}

function acquire(words: Int32Array, at: number, sleepMs: number): void {
  for (let spin = 0; spin < SPINS; spin += 1) {
    if (Atomics.load(words, at) === FREE && Atomics.compareExchange(words, at, FREE, HELD) === FREE) return
  }
  // Node allows this on its main thread too. The sections are too short to matter.
  for (let sleeps = 0; Atomics.exchange(words, at, AWAITED) !== FREE;) {
    if (Atomics.wait(words, at, AWAITED, sleepMs) === 'timed-out') sleeps += 1
    if (sleeps === SLEEPS_MAX)
      throw new Error(`a lock in shared memory was not released within ${SLEEPS_MAX * sleepMs} ms`)
  }
}
