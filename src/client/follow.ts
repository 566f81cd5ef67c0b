import type { ArchiveIndex, EventsPage } from '../protocol/resources.ts'
import type { Ask } from './ask.ts'
import { waitMsAfter } from './ask.ts'
import { isWanted } from './filter.ts'
import { readMonth } from './months.ts'
import { noGap, openSameLog, PAGE_EVENTS, pagesOf } from './event-pages.ts'
import type { Time } from './endpoint-query.ts'
import { endpointPath } from './endpoint-query.ts'
import type { Batches, StreamAsked } from './stream.ts'
import { streamOf } from './stream.ts'
import type { Surroundings } from './surroundings.ts'

export type FollowAsked = Omit<StreamAsked, 'after' | 'serverFilter'> &
  Readonly<{
    /** The exclusive cursor; 0, the first event, when neither this nor `from` is given. */
    after?: number | undefined
    /** The first moment, or the first month, `yyyy-mm`. The later of both bounds wins. */
    from?: Time | undefined
  }>

/** Events behind the head from which whole months are read from their files: more than a few pages would hold. */
export const ARCHIVE_EVENTS_MIN: number = 3 * PAGE_EVENTS

type Around = Pick<Surroundings, 'sleep' | 'random'>

/**
 * The whole log and what comes after it, in one loop without end: the files of months, then pages, then the stream.
 * In order, each event once. It throws what `streamOf` throws.
 */
export async function* followOf(ask: Pick<Ask, 'get' | 'open'>, around: Around, asked: FollowAsked): Batches {
  const { from, after = 0, ...rest } = asked
  const { signal } = asked
  const sameLog = openSameLog()
  let cursor = after
  if (from !== undefined) {
    const { headers, json } = await ask.get(
      endpointPath('events', '', { after, from: timeOf(from), limit: 1 }),
      {
        signal,
      },
    )
    sameLog(headers)
    const { page }: EventsPage = json()
    cursor = page.after ?? after
  }

  async function* checked(batches: Batches): Batches {
    for await (const events of batches) {
      for (const { seq } of events) {
        noGap(cursor, seq)
        cursor = seq
      }
      const wanted = events.filter((event) => isWanted(asked, event))
      if (wanted.length > 0) yield wanted
    }
  }

  try {
    const { headers, json } = await ask.get(endpointPath('archive', ''), { signal })
    sameLog(headers)
    const { months }: ArchiveIndex = json()
    const head = months.at(-1)?.lastSeq ?? 0
    if (head - cursor >= ARCHIVE_EVENTS_MIN) {
      for (const { month, lastSeq } of months) {
        if ((lastSeq ?? 0) > cursor) yield* checked(readMonth(ask, around, month, { after: cursor, signal }))
      }
    }
    yield* checked(pagesOf(ask, { after: cursor, signal }, sameLog))
  } catch (error) {
    signal?.throwIfAborted()
    // What may pass is met by the stream: it has all of history, and the patience for a restart.
    if (waitMsAfter(error, 1, around.random) === undefined) throw error
  }
  yield* streamOf(ask, around, { ...rest, after: cursor }, sameLog)
}

const timeOf = (from: Time): string | number =>
  from instanceof Date
    ? from.toISOString()
    : typeof from === 'string' && /^\d{4}-\d\d$/.test(from)
      ? `${from}-01`
      : from
