import type { EventWire } from '../protocol/event.ts'
import type { Ask } from './ask.ts'
import { ATTEMPTS_MAX, waitMsAfter } from './ask.ts'
import { DaybookError } from './daybook-error.ts'
import { streamLines } from './lines.ts'
import { noGap } from './event-pages.ts'
import { endpointPath } from './endpoint-query.ts'
import type { Surroundings } from './surroundings.ts'

export type MonthAsked = Readonly<{
  /** Only events with a greater seq. */
  after?: number
  signal?: AbortSignal | undefined
}>

/**
 * Yields the events of a month (`yyyy-mm`) from its file, a batch for each piece of the file. Opens the file again when
 * it breaks off, and continues after the last event. Throws `gap` when a seq is missing.
 */
export async function* readMonth(
  ask: Pick<Ask, 'open'>,
  { sleep, random }: Pick<Surroundings, 'sleep' | 'random'>,
  month: string,
  { after = 0, signal }: MonthAsked = {},
): AsyncGenerator<readonly EventWire[], void, undefined> {
  let last: number | undefined
  for (let attempt = 1; ; attempt++) {
    try {
      const { stream } = await ask.open(endpointPath('archiveFile', `${month}.jsonl.gz`), { signal })
      for await (const lines of streamLines(stream.pipeThrough(new DecompressionStream('gzip')))) {
        const events = lines
          .map((line): EventWire => JSON.parse(line))
          .filter(({ seq }) => seq > (last ?? after))
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
      const waitMs = attempt < ATTEMPTS_MAX ? waitMsAfter(error, attempt, random) : undefined
      if (waitMs === undefined) throw error
      await sleep(waitMs, signal)
    }
  }
}

const broken = (cause: unknown): DaybookError =>
  new DaybookError('unreachable', 'the file is incomplete or damaged', { cause })
