import type { LogReader } from '../../log/store/reader.ts'
import { parseEventWire } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { nextSeq, type Seq } from '../../protocol/seq.ts'

/** Measures how late the live streams of a thread get events. */
type DeliveryLag = Readonly<{
  /** Reports a fan-out of all events up to `head`, and whether a live stream takes part. */
  begun(head: Seq, live: boolean): void
  /** Reports that every live stream had its turn. */
  ended(): void
}>

type DeliveryLagSettings = Readonly<{
  reader: LogReader
  now: () => Ms
  /** Receives the milliseconds from an event's moment until all live streams had it, for the oldest event sent. */
  onDelivered: (ms: number) => void
}>

export function openDeliveryLag({ reader, now, onDelivered }: DeliveryLagSettings): DeliveryLag {
  let fannedOutTo = reader.head().seq
  let oldestMs: number | null = null
  return {
    begun(head, live) {
      if (live && head > fannedOutTo) oldestMs ??= momentOf(reader, nextSeq(fannedOutTo))
      fannedOutTo = head
    },
    ended() {
      if (oldestMs !== null) onDelivered(Math.max(0, now() - oldestMs))
      oldestMs = null
    },
  }
}

function momentOf(reader: LogReader, seq: Seq): number | null {
  try {
    const line = reader.snapshot((snapshot) => snapshot.line(seq))
    return line === undefined ? null : parseEventWire(Buffer.from(line).toString()).atMs
  } catch {
    // The streams read the same event next, and report the failure.
    return null
  }
}
