import type { EventWire } from '../protocol/event.ts'
import type { Daybook, Events } from './daybook.ts'
import { eventsOf } from './daybook.ts'
import { isWanted } from './filter.ts'
import type { Batches, StreamAsked, StreamStatus } from './stream.ts'
import { STREAM_SILENCE_MS, streamOf } from './stream.ts'
import type { Tabs, Word } from './tab-place.ts'
import { browserTabs, openTabPlace } from './tab-place.ts'
import { openWords } from './words.ts'

export type SharedAsked = Omit<StreamAsked, 'serverFilter'>

/** How long the tab that leads may be silent before another takes its place: browsers freeze tabs. */
export const LEADER_SILENCE_MS: number = 2 * STREAM_SILENCE_MS

/**
 * As `daybook.stream`, over one connection for all tabs of a browser: one of them holds a lock and the connection, and
 * tells the others what comes. Each tab has a cursor of its own, and reads by itself what it was not told.
 */
export function sharedStream(daybook: Daybook, asked: SharedAsked = {}, tabs: Tabs = browserTabs()): Events {
  return eventsOf(() => shared(daybook, asked, tabs))
}

async function* shared({ ask, around }: Daybook, asked: SharedAsked, tabs: Tabs): Batches {
  const { after = 'head', onStatus } = asked
  const gone = new AbortController()
  const signal = asked.signal === undefined ? gone.signal : AbortSignal.any([asked.signal, gone.signal])
  const words = openWords<Word>(around)
  let cursor = after === 'head' ? undefined : after
  let patienceMs = LEADER_SILENCE_MS

  /** Reads by itself up to an event that others have. */
  async function* upTo(seq: number): Batches {
    cursor ??= seq
    if (cursor >= seq) return
    for await (const events of streamOf(ask, around, { after: cursor, signal })) {
      cursor = events.at(-1)?.seq ?? cursor
      yield wantedOf(asked, events)
      if (cursor >= seq) return
    }
  }

  const place = openTabPlace({ ...tabs, name: `daybook ${ask.base}`, words, signal, lead: pump })

  /** The one connection: what comes of it, for all tabs. It begins where this one has arrived, if it has. */
  async function pump(until: AbortSignal, say: (word: Word) => void): Promise<void> {
    const follow: StreamAsked = {
      after: place.isJoined() ? cursor : 'head',
      signal: until,
      onStatus: (status) => say({ status }),
    }
    for await (const events of streamOf(ask, around, follow)) say({ events })
  }

  try {
    for (;;) {
      const word = await words.next(patienceMs, signal)
      if (word === undefined) {
        place.takeOver()
        continue
      }
      const { status, events, error } = word
      if (error !== undefined) throw error
      if (status !== undefined) {
        patienceMs = LEADER_SILENCE_MS + (status.inMs ?? 0)
        if (hasPlace(status)) {
          yield* upTo(status.seq)
          place.join()
        }
        onStatus?.({ ...status, seq: cursor ?? 0 })
      }
      const [first] = events ?? []
      if (first === undefined) continue
      yield* upTo(first.seq - 1)
      const last = cursor ?? 0
      const fresh = events?.filter(({ seq }) => seq > last) ?? []
      cursor = fresh.at(-1)?.seq ?? cursor
      yield wantedOf(asked, fresh)
    }
  } finally {
    gone.abort()
    place.close()
  }
}

const wantedOf = (asked: SharedAsked, events: readonly EventWire[]): readonly EventWire[] =>
  events.filter((event) => isWanted(asked, event))

/** Whether the seq of a status says how far the tab that leads has come. */
const hasPlace = ({ state }: StreamStatus): boolean =>
  state === 'catching-up' || state === 'live' || state === 'repairing'
