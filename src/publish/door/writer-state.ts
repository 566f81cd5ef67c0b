import { isDiskFull } from '../../log/store/disk-probe.ts'
import type { ClockGuard } from '../guards/clock-guard.ts'
import { openStoreRoom, ROOM_PROBE_BYTES, ROOM_PROBE_MS } from '../guards/store-room.ts'
import type { FromWriter } from './writer-messages.ts'

/** Whether the writer accepts publish requests, and the events that change it. */
export type WriterState = Readonly<{
  /** Whether the node accepts publish requests now. */
  accepting(): boolean
  /** Whether the clock can be believed now. */
  clockAgrees(): boolean
  /** Must be called when a commit succeeded. */
  committed(): void
  /** Must be called when a commit failed because the disk is full. */
  full(): void
  /** Refuses all further requests and asks the main thread to end the service. */
  breakDown(reason: string): void
  /** Refuses all further requests because the service is stopping. */
  stop(): void
  isStopping(): boolean
  /** Aborted by the stop. */
  stopped: AbortSignal
}>

export function openWriterState(
  dataDirectory: string,
  clock: ClockGuard | null,
  say: (message: FromWriter) => void,
): WriterState {
  let broken = false
  const stop = new AbortController()
  const room = openStoreRoom({
    probe: () => !isDiskFull(dataDirectory, ROOM_PROBE_BYTES),
    onChange: (has) => say({ is: 'room', room: has }),
    every(look, signal) {
      const timer = setInterval(look, ROOM_PROBE_MS).unref()
      signal.addEventListener('abort', () => clearInterval(timer), { once: true })
    },
  })
  const clockAgrees = (): boolean => clock === null || clock.fault() === null
  return {
    accepting: () => room.has() && !broken && !stop.signal.aborted && clockAgrees(),
    clockAgrees,
    committed() {
      room.taken()
      clock?.committed()
    },
    full: room.full,
    breakDown(reason) {
      broken = true
      say({ is: 'broken', reason })
    },
    stop: () => stop.abort(),
    isStopping: () => stop.signal.aborted,
    stopped: stop.signal,
  }
}
