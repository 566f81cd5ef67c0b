import { closeSync, constants, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { storePath } from '../log/store.ts'

/** Milliseconds between two looks whether a full disk has room again. */
export const ROOM_PROBE_MS = 500
/** Bytes that a disk must take to count as one with room: more than nearly any commit writes. */
export const ROOM_PROBE_BYTES: number = 1024 * 1024
/** The probe's file in the data directory, which is there only while it is looked. */
export const ROOM_PROBE_FILE = 'room-probe'

/** Whether the store's disk has room, as the last commit found it. */
export type StoreRoom = Readonly<{
  has(): boolean
  /** A commit was refused because the disk is full: from now on it is probed. */
  full(): void
  /** A commit was made. */
  taken(): void
}>

export type StoreRoomSettings = Readonly<{
  /** Whether the disk has room again; what it throws counts as no. */
  probe(): boolean
  /** Told when it changes. */
  onChange(room: boolean): void
  /** Calls back from time to time until the signal is aborted; `ROOM_PROBE_MS` apart. */
  every(look: () => void, signal: AbortSignal): void
}>

/**
 * Remembers that the disk is full until there is room. A node that is not asked to publish because it is full would
 * never learn better from its publishers, so it looks for itself.
 */
export function openStoreRoom({ probe, onChange, every }: StoreRoomSettings): StoreRoom {
  let probing: AbortController | null = null

  function taken(): void {
    if (probing === null) return
    probing.abort()
    probing = null
    onChange(true)
  }

  return {
    has: () => probing === null,
    full() {
      if (probing !== null) return
      probing = new AbortController()
      onChange(false)
      every(() => {
        if (holds(probe)) taken()
      }, probing.signal)
    },
    taken,
  }
}

function holds(probe: () => boolean): boolean {
  try {
    return probe()
  } catch {
    return false
  }
}

/**
 * Tries to write and sync `ROOM_PROBE_BYTES` beside the store, as far from the beginning of their file as the store's
 * files are long: a limit on the size of a file shows too, and the gap before them takes no room.
 */
export function hasRoom(dataDirectory: string): boolean {
  const path = join(dataDirectory, ROOM_PROBE_FILE)
  const store = storePath(dataDirectory)
  try {
    const from = Math.max(sizeOf(store), sizeOf(`${store}-wal`))
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600)
    try {
      const bytes = Buffer.alloc(ROOM_PROBE_BYTES, 1)
      // A disk may take a part of it: what is missing says so at its own write.
      for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, undefined, from + done)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    return true
  } catch {
    return false
  } finally {
    rmSync(path, { force: true })
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
