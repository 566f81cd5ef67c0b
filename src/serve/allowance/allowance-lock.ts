/** Looks before sleeping: whoever holds the lock lets go within a microsecond unless it lost its core. */
const SPINS = 100

/** One sleep; a wake-up that was missed costs no more than this. */
const SLEEP_MS = 50

/** Sleeps that end without a wake-up before the holder is taken for dead: some five seconds. */
const SLEEPS_MAX = 100

const FREE = 0
const HELD = 1
const AWAITED = 2

/**
 * Runs a short, synchronous section that no other thread runs at the same time under the same word.
 * Throws when the holder does not let go for seconds: its thread died inside, and what it left cannot be trusted.
 */
export function locked<T>(words: Int32Array, at: number, section: () => T): T {
  if (Atomics.compareExchange(words, at, FREE, HELD) !== FREE) acquire(words, at)
  try {
    return section()
  } finally {
    // Only a lock that somebody sleeps on costs a call into the system.
    if (Atomics.exchange(words, at, FREE) === AWAITED) Atomics.notify(words, at, 1)
  }
}

function acquire(words: Int32Array, at: number): void {
  for (let spin = 0; spin < SPINS; spin += 1) {
    if (Atomics.load(words, at) === FREE && Atomics.compareExchange(words, at, FREE, HELD) === FREE) return
  }
  // Node lets its main thread wait too; sections are too short for that to be felt.
  for (let sleeps = 0; Atomics.exchange(words, at, AWAITED) !== FREE;) {
    if (Atomics.wait(words, at, AWAITED, SLEEP_MS) === 'timed-out') sleeps += 1
    if (sleeps === SLEEPS_MAX)
      throw new Error(`a lock in shared memory was not let go in ${SLEEPS_MAX * SLEEP_MS} ms`)
  }
}
