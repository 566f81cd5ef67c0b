import type { ArchiveIndex } from '../protocol/endpoints/file-endpoints.ts'
import { type Ask, mayPass } from './ask.ts'
import { DaybookError, unexpected } from './daybook-error.ts'
import { isWanted } from './filter.ts'
import { readMonth } from './months.ts'
import { noGap, openSameLog, PAGE_EVENTS, pagesOf } from './event-pages.ts'
import { endpointPath } from './endpoint-query.ts'
import type { WithDetails } from './event-details.ts'
import { startCursor } from './start-cursor.ts'
import { type Batches, type StreamAsked, streamOf } from './stream.ts'
import type { Surroundings } from './surroundings.ts'

export type FollowAsked = Omit<StreamAsked, 'after' | 'serverFilter'> &
  Readonly<{
    /** Exclusive cursor; 0 by default, which starts at the first event. */
    after?: number | undefined
  }>

/** Distance to the head, in events, from which month files are read instead of pages. */
export const ARCHIVE_EVENTS_MIN: number = 3 * PAGE_EVENTS

type Around = Pick<Surroundings, 'sleep' | 'random'>

/**
 * Yields history and then new events, without end: from month files, then pages, then the stream. Each event comes
 * once and in order. Throws what `streamOf` throws.
 */
export async function* followOf(
  ask: Pick<Ask, 'get' | 'open'>,
  around: Around,
  asked: FollowAsked & WithDetails,
): Batches {
  const { from, after = 0, ...rest } = asked
  const { signal, details } = asked
  const sameLog = openSameLog()
  let cursor = from === undefined ? after : await startCursor(ask, { after, from, signal }, sameLog)

  async function* checked(batches: Batches): Batches {
    for await (const events of batches) {
      // The cursor must not pass events of an unfinished batch.
      let last = cursor
      for (const { seq } of events) {
        noGap(last, seq)
        last = seq
      }
      cursor = last
      const wanted = events.filter((event) => isWanted(asked, event))
      if (wanted.length > 0) yield wanted
    }
  }

  try {
    const { headers, json } = await ask.get(endpointPath('archive', ''), { signal })
    sameLog(headers)
    const months = monthsOf(json())
    const head = months.at(-1)?.lastSeq ?? 0
    if (head - cursor >= ARCHIVE_EVENTS_MIN) {
      for (const { month, lastSeq } of months) {
        if ((lastSeq ?? 0) <= cursor) continue
        yield* checked(readMonth(ask, around, month, { after: cursor, signal, details }))
      }
    }
    yield* checked(pagesOf(ask, { after: cursor, signal, details }, sameLog))
  } catch (error) {
    signal?.throwIfAborted()
    // The stream continues: it serves all of history too, reconnects, and ends when an event is really missing.
    if (!(error instanceof DaybookError && canStreamMend(error))) throw error
  }
  yield* streamOf(ask, around, { ...rest, after: cursor }, sameLog)
}

/** The months in an answer. Throws `unexpected-answer` for anything else: a proxy may have answered. */
function monthsOf(json: ReturnType<typeof JSON.parse>): ArchiveIndex['months'] {
  const { months } = json ?? {}
  if (Array.isArray(months) && months.every((one) => typeof one?.month === 'string')) return months
  throw unexpected('the answer is no list of months')
}

/** Whether the stream can continue after a failed file or page. A node that is behind lacks the newest files. */
const canStreamMend = (error: DaybookError): boolean =>
  mayPass(error) || error.code === 'gap' || error.status === 404
