import { isDiskFull } from '../../log/store/disk-probe.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { ClockGuard } from './clock-guard.ts'
import type { SendMain } from './writer-messages.ts'
import { REPLACED, WRONG_CLOCK } from '../commit-path.ts'
import { statSync } from 'node:fs'

/** Milliseconds between two probes of a full disk. */
const ROOM_PROBE_MS = 500
/** Bytes that a probe of the disk writes to show that it has room. Few commits write more. */
const ROOM_PROBE_BYTES: number = 1024 * 1024
/** Milliseconds between two checks of the files that the writer holds open. */
const LOOK_MS = 1_000

/** Whether the writer accepts publish requests, and the events that change it. */
type WriterState = Readonly<{
  /** Whether the node accepts publish requests now. */
  accepting(): boolean
  /** Current refusal of all requests, because the clock is wrong or a file of the store was replaced; null for none. */
  refusal(): FailedOutcome | null
  /** Watches these open files from now on. The file of the `growing` path never shrinks. */
  watch(paths: readonly string[], growing: string): void
  /** Whether the watched paths still name the files that this process has opened. */
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
  send: SendMain,
  isFull: typeof isDiskFull = isDiskFull,
): WriterState {
  let broken = false
  const stop = new AbortController()
  /**
   * Timer of probes while the disk is full; null otherwise. Publishers may send nothing while the node reports a full
   * disk.
   */
  let probing: NodeJS.Timeout | null = null

  function full(): void {
    if (probing !== null) return
    send('room', false)
    probing = setInterval(() => {
      if (!isFull(dataDirectory, ROOM_PROBE_BYTES)) hasRoom()
    }, ROOM_PROBE_MS).unref()
  }

  function hasRoom(): void {
    if (probing === null) return
    clearInterval(probing)
    probing = null
    send('room', true)
  }

  let replaced = (): string | null => null
  let known: string | null = null

  function isInPlace(): boolean {
    const file = replaced()
    if (file !== null && known === null) send('replaced', file)
    known = file
    return file === null
  }

  function refusal(): FailedOutcome | null {
    if (!isInPlace()) return REPLACED
    return clock === null || clock.fault() === null ? null : WRONG_CLOCK
  }

  return {
    accepting: () => probing === null && !broken && !stop.signal.aborted && refusal() === null,
    refusal,
    isInPlace,
    watch(paths, growing) {
      replaced = watchOpenFiles(paths, growing)
      // Checked without a request too, for the log line and `/readyz`.
      setInterval(isInPlace, LOOK_MS).unref()
    },
    committed() {
      hasRoom()
      clock?.committed()
    },
    full,
    breakDown(reason) {
      broken = true
      send('broken', reason)
    },
    stop: () => stop.abort(),
    isStopping: () => stop.signal.aborted,
    stopped: stop.signal,
  }
}

type OpenFile = Readonly<{ id: string; bytes: bigint }>

/**
 * Watches files that this process holds open. Writes to a moved or replaced file continue, but nobody finds them by its
 * path. The returned function returns the first path that now names another file, or none; null while all are in place.
 * A replaced file stays replaced. A missing file, such as the write-ahead log of an unused store, is watched when it
 * appears. The file of the `growing` path never shrinks. A smaller one was overwritten in place, as `cp` does.
 */
function watchOpenFiles(paths: readonly string[], growing: string): () => string | null {
  const opened = new Map<string, OpenFile>()
  let replaced: string | null = null

  function look(): string | null {
    for (const path of paths) {
      const known = opened.get(path)
      const now = fileAt(path, known ?? null)
      if (known !== undefined && known.id !== now?.id) return path
      if (known !== undefined && path === growing && now !== null && now.bytes < known.bytes) return path
      if (now !== null) opened.set(path, now)
    }
    return null
  }

  replaced = look()
  return () => (replaced ??= look())
}

/**
 * File at a path. Its id is device and inode, which are unique at any time. Returns `unknown` when the disk cannot
 * answer.
 */
function fileAt(path: string, unknown: OpenFile | null): OpenFile | null {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : { id: `${found.dev}:${found.ino}`, bytes: found.size }
  } catch {
    // A temporary disk error says nothing about the file.
    return unknown
  }
}
