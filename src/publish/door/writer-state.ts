import { isDiskFull } from '../../log/store/disk-probe.ts'
import { openStoreRoom, ROOM_PROBE_BYTES, ROOM_PROBE_MS } from './store-room.ts'
import type { FromWriter } from './writer-messages.ts'

/** What decides whether the writer takes publish requests. */
type WriterState = Readonly<{
  /** Whether a publish request would be taken now, as far as the node itself goes. */
  accepting(): boolean
  /** A commit was made. */
  committed(): void
  /** A commit was refused because the disk is full. */
  full(): void
  /** The writer must not go on: the service is told to end. */
  breakDown(reason: string): void
  /** The service stops. */
  stop(): void
  isStopping(): boolean
}>

export function openWriterState(dataDirectory: string, say: (message: FromWriter) => void): WriterState {
  let broken = false
  let stopping = false
  const room = openStoreRoom({
    probe: () => !isDiskFull(dataDirectory, ROOM_PROBE_BYTES),
    onChange: (has) => say({ is: 'room', room: has }),
    every(look, signal) {
      const timer = setInterval(look, ROOM_PROBE_MS).unref()
      signal.addEventListener('abort', () => clearInterval(timer), { once: true })
    },
  })
  return {
    accepting: () => room.has() && !broken && !stopping,
    committed: room.taken,
    full: room.full,
    breakDown(reason) {
      broken = true
      say({ is: 'broken', reason })
    },
    stop: () => void (stopping = true),
    isStopping: () => stopping,
  }
}
