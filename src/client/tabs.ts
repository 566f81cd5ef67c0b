import type { EventWire } from '../protocol/event.ts'
import { type Daybook, type Events, eventsOf } from './daybook.ts'
import { openSameLog } from './event-pages.ts'
import { isWanted } from './filter.ts'
import { startCursor } from './start-cursor.ts'
import { type Batches, STREAM_SILENCE_MS, type StreamAsked, streamOf, type StreamStatus } from './stream.ts'
import { browserTabs, openTabElection, type TabMessage, type Tabs } from './tab-election.ts'
import { openMessageQueue } from './message-queue.ts'

export type SharedAsked = Omit<StreamAsked, 'serverFilter'>

/** Silence of the leading tab after which another tab takes over, because browsers freeze tabs. */
export const LEADER_SILENCE_MS: number = 2 * STREAM_SILENCE_MS

/**
 * Works as `daybook.stream`, with one connection for all tabs of a browser. The tab that holds a lock has the connection
 * and sends events to the others. Each tab has its own cursor, and reads skipped events by itself.
 */
export function sharedStream(daybook: Daybook, asked: SharedAsked = {}, tabs: Tabs = browserTabs()): Events {
  return eventsOf(() => shared(daybook, asked, tabs))
}

async function* shared({ ask, around }: Daybook, asked: SharedAsked, tabs: Tabs): Batches {
  const { from, after = from === undefined ? 'head' : 0, onStatus } = asked
  const gone = new AbortController()
  const signal = asked.signal === undefined ? gone.signal : AbortSignal.any([asked.signal, gone.signal])
  const messages = openMessageQueue<TabMessage>(around)
  let cursor = after === 'head' || from !== undefined ? undefined : after
  let silenceMs = LEADER_SILENCE_MS

  /** Reads over a separate connection, up to an event that other tabs have. */
  async function* catchUp(seq: number): Batches {
    cursor ??=
      after === 'head' || from === undefined
        ? seq
        : await startCursor(ask, { after, from, signal }, openSameLog())
    if (cursor >= seq) return
    for await (const events of streamOf(ask, around, { after: cursor, signal })) {
      cursor = events.at(-1)?.seq ?? cursor
      yield wantedOf(asked, events)
      if (cursor >= seq) return
    }
  }

  const election = openTabElection({ ...tabs, name: `daybook ${ask.base}`, messages, signal, lead })

  /** Sends the events of the shared connection to all tabs. Starts at the cursor of this tab, if it has one. */
  async function lead(until: AbortSignal, send: (message: TabMessage) => void): Promise<void> {
    const follow: StreamAsked = {
      after: election.isJoined() ? cursor : 'head',
      signal: until,
      onStatus: (status) => send({ status }),
    }
    for await (const events of streamOf(ask, around, follow)) send({ events })
  }

  try {
    for (;;) {
      const message = await messages.next(silenceMs, signal)
      if (message === undefined) {
        election.takeOver()
        continue
      }
      const { status, events, error } = message
      if (error !== undefined) throw error
      if (status !== undefined) {
        silenceMs = LEADER_SILENCE_MS + (status.inMs ?? 0)
        if (isConnected(status)) {
          yield* catchUp(status.seq)
          election.join()
        }
        onStatus?.({ ...status, seq: cursor ?? 0 })
      }
      const [first] = events ?? []
      if (first === undefined) continue
      yield* catchUp(first.seq - 1)
      const last = cursor ?? 0
      const fresh = events?.filter(({ seq }) => seq > last) ?? []
      cursor = fresh.at(-1)?.seq ?? cursor
      yield wantedOf(asked, fresh)
    }
  } finally {
    gone.abort()
    election.close()
  }
}

const wantedOf = (asked: SharedAsked, events: readonly EventWire[]): readonly EventWire[] =>
  events.filter((event) => isWanted(asked, event))

/** Whether the leading tab is connected, so that its seq is its cursor. */
const isConnected = ({ state }: StreamStatus): boolean =>
  state === 'catching-up' || state === 'live' || state === 'repairing'
