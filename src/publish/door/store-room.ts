/** Milliseconds between two looks whether a full disk has room again. */
export const ROOM_PROBE_MS = 500
/** Bytes that a disk must take to count as one with room: more than nearly any commit writes. */
export const ROOM_PROBE_BYTES: number = 1024 * 1024

/** Whether the store's disk has room, as the last commit found it. */
type StoreRoom = Readonly<{
  has(): boolean
  /** A commit was refused because the disk is full: from now on it is probed. */
  full(): void
  /** A commit was made. */
  taken(): void
}>

type StoreRoomSettings = Readonly<{
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
