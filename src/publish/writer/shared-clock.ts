import { type Ms, msOf } from '../../protocol/moment.ts'

/** Clock of a whole service in a test. One thread sets it, and all threads read it. */
export type SharedClock = Readonly<{
  /** The memory with which other threads open the same clock. */
  buffer: SharedArrayBuffer
  now(): Ms
  set(now: Ms): void
}>

export function openSharedClock(buffer: SharedArrayBuffer = new SharedArrayBuffer(8)): SharedClock {
  const cell = new BigInt64Array(buffer)
  return {
    buffer,
    now: () => msOf(Number(Atomics.load(cell, 0))),
    set: (now) => void Atomics.store(cell, 0, BigInt(now)),
  }
}
