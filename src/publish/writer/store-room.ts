/** Milliseconds between two probes of a full disk. */
export const ROOM_PROBE_MS = 500
/** Bytes that a disk must accept to count as having room. Few commits write more. */
export const ROOM_PROBE_BYTES: number = 1024 * 1024

/** Whether the store's disk has room, by the last commit or probe. */
type StoreRoom = Readonly<{
  has(): boolean
  /** Must be called when a commit failed because the disk is full. Starts the probes. */
  full(): void
  /** Must be called when a commit succeeded. */
  taken(): void
}>

type StoreRoomSettings = Readonly<{
  /** Whether the disk has room again. An exception counts as no. */
  probe(): boolean
  /** Called when the disk has become full, or has room again. */
  onChange(room: boolean): void
  /** Calls `look` every `ROOM_PROBE_MS` until the signal is aborted. */
  every(look: () => void, signal: AbortSignal): void
}>

/**
 * Remembers that the disk is full until it has room. It probes the disk itself, because publishers may send nothing
 * while the node reports that it is full.
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
