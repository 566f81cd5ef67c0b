import { watchOpenFiles } from '../../log/open-files.ts'
import { isDiskFull } from '../../log/store/disk-probe.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { ClockGuard } from '../guards/clock-guard.ts'
import { openStoreRoom, ROOM_PROBE_BYTES, ROOM_PROBE_MS } from '../guards/store-room.ts'
import type { FromWriter } from './writer-messages.ts'
import { REPLACED, WRONG_CLOCK } from '../commit-path.ts'

/** Milliseconds between two looks at the files that the writer holds open. */
const LOOK_MS = 1_000

/** Whether the writer accepts publish requests, and the events that change it. */
export type WriterState = Readonly<{
  /** Whether the node accepts publish requests now. */
  accepting(): boolean
  /** Refusal of all requests now: the clock is wrong, or a file of the store was replaced. Null for none. */
  refusal(): FailedOutcome | null
  /** Watches these files from now on. They are open. That of the `growing` path never gets smaller. */
  watch(paths: readonly string[], growing: string): void
  /** Whether the watched files are those that this process has opened. */
  isInPlace(): boolean
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
  let replaced = (): string | null => null
  let known: string | null = null

  function isInPlace(): boolean {
    const file = replaced()
    if (file !== null && known === null) say({ is: 'replaced', file })
    known = file
    return file === null
  }

  function refusal(): FailedOutcome | null {
    if (!isInPlace()) return REPLACED
    return clock === null || clock.fault() === null ? null : WRONG_CLOCK
  }

  return {
    accepting: () => room.has() && !broken && !stop.signal.aborted && refusal() === null,
    refusal,
    isInPlace,
    watch(paths, growing) {
      replaced = watchOpenFiles(paths, growing)
      // Found without a request too, for the log line and `/readyz`.
      setInterval(isInPlace, LOOK_MS).unref()
    },
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
