import type { Ms } from '../../protocol/moment.ts'
import { msOf } from '../../protocol/moment.ts'

/** A clock that several threads read and one sets: what it says is the present of a whole service. */
export type SharedClock = Readonly<{
  /** What the other threads open the same clock with. */
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
