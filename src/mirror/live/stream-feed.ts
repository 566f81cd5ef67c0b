import { nextSeq } from '../../protocol/seq.ts'
import type { DetailsByEvent } from '../../client/event-details.ts'
import { streamOf, type StreamStatus } from '../../client/stream.ts'
import { openWakeup } from '../../command/plug/wakeup.ts'
import type { ExpectedNext } from '../../verify/reading/entry-lines.ts'
import type { MirrorEntry } from '../proof/mirror-entry.ts'
import type { Origin } from '../origin/open-origin.ts'
import { streamEntry } from '../origin/page-entries.ts'

/** Events of the origin's stream that no checkpoint has proved yet. */
export type StreamFeed = Readonly<{
  /** Newest seq that the stream has shown. */
  head(): number
  /** Whether the stream waits before it connects again. */
  isBroken(): boolean
  /**
   * Takes the entries after `after`, up to `upTo`; null while one of them has not arrived. Earlier ones are dropped.
   */
  take(after: number, upTo: number): readonly MirrorEntry[] | null
  /** Error that has ended the stream; null while it runs. */
  error(): unknown
  /** Resolves when something has arrived since the last call, or after `msMax`. */
  changed(msMax: number): Promise<void>
  close(): Promise<void>
}>

/** Most entries and most bytes of lines that wait for a checkpoint. Beyond them the stream is not read. */
const UNPROVED_ENTRIES_MAX = 20_000
const UNPROVED_BYTES_MAX: number = 32 * 1024 * 1024

/** Opens the stream with details after the head of the mirror. `stopped` ends it, and every wait for a change. */
export function openStreamFeed(origin: Origin, next: ExpectedNext, stopped: AbortSignal): StreamFeed {
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, stopped])
  const change = openWakeup(origin.around.sleep)
  const queue = openUnproved()
  let head = next.seq - 1
  let ended: unknown = null
  let isBroken = false

  async function read(): Promise<void> {
    const details: DetailsByEvent = new WeakMap()
    let expected = next
    const onStatus = (status: Pick<StreamStatus, 'head' | 'state'>): void => {
      const wasBroken = isBroken
      isBroken = status.state === 'reconnecting' || status.state === 'offline'
      if (status.head > head || (isBroken && !wasBroken)) change.wake()
      head = Math.max(expected.seq - 1, status.head)
    }
    const asked = { after: next.seq - 1, details, signal, onStatus }
    for await (const events of streamOf(origin.ask, origin.around, asked)) {
      for (const event of events) {
        const entry = streamEntry(event, details.get(event), expected)
        expected = { seq: nextSeq(expected.seq), notBefore: entry.event.atMs }
        queue.add(entry)
      }
      head = Math.max(head, expected.seq - 1)
      change.wake()
      await queue.room()
    }
  }

  const reading = read().catch((error: unknown) => {
    ended = error
    change.wake()
  })
  return {
    head: () => head,
    isBroken: () => isBroken,
    take: queue.take,
    error: () => ended,
    changed: (msMax) => change.wait(msMax, signal),
    async close() {
      stop.abort(new Error('the stream was closed'))
      queue.end()
      await reading
    },
  }
}

type Unproved = Pick<StreamFeed, 'take'> &
  Readonly<{
    add(entry: MirrorEntry): void
    /** Settles when there is room for more. */
    room(): Promise<void>
    end(): void
  }>

/** Opens a bounded queue of entries. */
function openUnproved(): Unproved {
  let entries: readonly MirrorEntry[] = []
  let added: MirrorEntry[] = []
  let bytes = 0
  let drained: (() => void) | null = null
  const isFull = (): boolean =>
    entries.length + added.length >= UNPROVED_ENTRIES_MAX || bytes >= UNPROVED_BYTES_MAX
  return {
    add(entry) {
      added.push(entry)
      bytes += bytesOf(entry)
    },
    async room() {
      if (!isFull()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      drained = resolve
      await promise
    },
    take(after, upTo) {
      const all = [...entries, ...added].filter(({ event }) => event.seq > after)
      const count = upTo - after
      const isWhole = all[0]?.event.seq === after + 1 && all.length >= count
      entries = isWhole ? all.slice(count) : all
      added = []
      bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0)
      drained?.()
      return isWhole ? all.slice(0, count) : null
    },
    end: () => drained?.(),
  }
}

function bytesOf({ line, detailsLine }: MirrorEntry): number {
  return line.length + (detailsLine?.length ?? 0)
}
