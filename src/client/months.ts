import type { EventWire } from '../protocol/event.ts'
import { type Ask, ATTEMPTS_MAX, waitMsAfter } from './ask.ts'
import { DaybookError } from './daybook-error.ts'
import { type BodyLines, openBodyLines } from './lines.ts'
import { noGap } from './event-pages.ts'
import { endpointPath } from './endpoint-query.ts'
import type { DetailsByEvent, DetailsWire, WithDetails } from './event-details.ts'
import type { Surroundings } from './surroundings.ts'

export type MonthAsked = Readonly<{
  /** Only events with a greater seq. */
  after?: number
  signal?: AbortSignal | undefined
}>

/**
 * Yields the events of a month (`yyyy-mm`) from its file, one batch for each piece of the file. Opens the file again
 * when it breaks off, and continues after the last event. Throws `gap` when a seq is missing.
 */
export async function* readMonth(
  ask: Pick<Ask, 'open'>,
  { sleep, random }: Pick<Surroundings, 'sleep' | 'random'>,
  month: string,
  { after = 0, signal, details }: MonthAsked & WithDetails = {},
): AsyncGenerator<readonly EventWire[], void, undefined> {
  let last: number | undefined
  for (let attempt = 1; ; attempt++) {
    let file: LinesFile | undefined
    let detailsFile: DetailsFile | undefined
    let waitMs: number | undefined
    try {
      file = await openFile(ask, `${month}.jsonl.gz`, signal)
      if (details !== undefined) detailsFile = await openDetailsFile(ask, month, details, signal)
      for await (const lines of file.lines) {
        const events = lines
          .map((line): EventWire => JSON.parse(line))
          .filter(({ seq }) => seq > (last ?? after))
        // First, because after a failure the cursor must not pass events that were not yielded.
        await detailsFile?.fill(events)
        for (const { seq } of events) {
          noGap(last, seq)
          last = seq
        }
        if (events.length === 0) continue
        attempt = 0
        yield events
      }
      return
    } catch (cause) {
      signal?.throwIfAborted()
      const error = cause instanceof DaybookError ? cause : broken(cause)
      waitMs = attempt < ATTEMPTS_MAX ? waitMsAfter(error, attempt, random) : undefined
      if (waitMs === undefined) throw error
    } finally {
      await detailsFile?.close()
      await file?.close()
    }
    await sleep(waitMs, signal)
  }
}

type LinesFile = BodyLines & Readonly<{ headers: Headers }>

async function openFile(
  ask: Pick<Ask, 'open'>,
  name: string,
  signal: AbortSignal | undefined,
): Promise<LinesFile> {
  const { headers, stream } = await ask.open(endpointPath('archiveFile', name), { signal })
  return { headers, ...openBodyLines(stream.pipeThrough(new DecompressionStream('gzip'))) }
}

type DetailsFile = Readonly<{
  /** Adds the details of these events. Calls must follow the order of the events. */
  fill: (events: readonly EventWire[]) => Promise<void>
  close: () => Promise<void>
}>

/**
 * Opens the file with the details of a month. It is read together with the events, so that only one piece is in memory.
 */
async function openDetailsFile(
  ask: Pick<Ask, 'open'>,
  month: string,
  found: DetailsByEvent,
  signal: AbortSignal | undefined,
): Promise<DetailsFile> {
  const { headers, lines, close } = await openFile(ask, `${month}.details.jsonl.gz`, signal)
  // A node that is behind may lack the last details of an open month.
  const complete = Number(headers.get('daybook-last-seq') ?? Infinity)
  const pending = new Map<number, DetailsWire>()
  let reached = 0
  return {
    async fill(events) {
      const [first, last] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? 0]
      if (last > complete) throw broken(undefined)
      while (reached < last) {
        const { value, done } = await lines.next()
        for (const line of value ?? []) {
          const { seq, details } = JSON.parse(line)
          reached = seq
          // Details of skipped events would stay for ever.
          if (seq >= first) pending.set(seq, details)
        }
        if (done === true) reached = Infinity
      }
      for (const event of events) {
        const details = pending.get(event.seq)
        if (details !== undefined) found.set(event, details)
        pending.delete(event.seq)
      }
    },
    close,
  }
}

const broken = (cause: unknown): DaybookError =>
  new DaybookError('unreachable', 'the file is incomplete or damaged', { cause })
