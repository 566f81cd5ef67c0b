import type { EventWire } from '../protocol/event.ts'
import { type Daybook, type Events, eventsOf } from './daybook.ts'
import { openSameLog } from './event-pages.ts'
import { isWanted } from './filter.ts'
import { startCursor } from './start-cursor.ts'
import { type Batches, STREAM_SILENCE_MS, type StreamAsked, streamOf, type StreamStatus } from './stream.ts'
import type { Surroundings } from './surroundings.ts'

export type SharedAsked = Omit<StreamAsked, 'serverFilter'>

/** Silence of the leading tab after which another tab takes over, because browsers freeze tabs. */
export const LEADER_SILENCE_MS: number = 2 * STREAM_SILENCE_MS

/**
 * Works as `daybook.stream`, with one connection for all tabs of a browser. The tab that holds a lock has the
 * connection and sends events to the others. Each tab has its own cursor and reads skipped events itself.
 */
export function sharedStream(daybook: Daybook, asked: SharedAsked = {}, tabs: Tabs = browserTabs()): Events {
  return eventsOf(() => shared(daybook, asked, tabs))
}

async function* shared({ ask, around }: Daybook, asked: SharedAsked, tabs: Tabs): Batches {
  const { from, after = from === undefined ? 'head' : 0, onStatus } = asked
  const gone = new AbortController()
  const signal = asked.signal === undefined ? gone.signal : AbortSignal.any([asked.signal, gone.signal])
  const messages = openMessageQueue(around)
  let cursor = after === 'head' || from !== undefined ? undefined : after
  /** Whether this tab has caught up with the shared connection, so that its cursor may start the next one. */
  let isJoined = false
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

  /** Sends the events of the shared connection to all tabs. Starts at this tab's cursor, if it has one. */
  async function lead(until: AbortSignal, send: (message: TabMessage) => void): Promise<void> {
    const follow: StreamAsked = {
      after: isJoined ? cursor : 'head',
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
          isJoined = true
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

/** Queue of unread messages, oldest first. */
type MessageQueue = Readonly<{
  put: (message: TabMessage) => void
  /** Takes the next message; undefined after `withinMs` without one. Rejects with the signal's reason. */
  next: (withinMs: number, signal: AbortSignal) => Promise<TabMessage | undefined>
}>

/** Most unread messages; the oldest are dropped beyond that. */
const MESSAGES_MAX = 1_000

/** Opens an empty queue. */
function openMessageQueue({ sleep }: Pick<Surroundings, 'sleep'>): MessageQueue {
  const queue: TabMessage[] = []
  let wake = (): void => undefined
  return {
    put(message) {
      queue.push(message)
      if (queue.length > MESSAGES_MAX) queue.shift()
      wake()
    },
    async next(withinMs, signal) {
      if (queue.length === 0) {
        const done = new AbortController()
        const woken = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([woken, sleep(withinMs, AbortSignal.any([signal, done.signal]))])
        done.abort()
      }
      return queue.shift()
    },
  }
}

/** Message between tabs: a new tab asks for the status; the leader sends statuses and events. */
type TabMessage = Readonly<{
  asks?: true
  status?: StreamStatus
  events?: readonly EventWire[]
  /** Error that keeps this tab from leading; never sent to other tabs. */
  error?: Error
}>

/** Browser features that tabs share: Web Locks and BroadcastChannel. */
type Tabs = Readonly<{
  locks: Readonly<{
    request: (
      name: string,
      options: { signal?: AbortSignal; steal?: boolean },
      held: () => Promise<void>,
    ) => Promise<unknown>
  }>
  openChannel: (name: string) => Readonly<{
    postMessage: (message: TabMessage) => void
    addEventListener: (kind: 'message', listener: (event: { data: TabMessage }) => void) => void
    close: () => void
  }>
}>

/** Web Locks and BroadcastChannel of this browser. */
const browserTabs = (): Tabs => ({
  locks: navigator.locks,
  openChannel: (name) => new BroadcastChannel(name),
})

type TabElectionSettings = Tabs &
  Readonly<{
    name: string
    messages: Pick<MessageQueue, 'put'>
    signal: AbortSignal
    /** Holds the connection while this tab leads, until the signal is aborted. */
    lead: (until: AbortSignal, send: (message: TabMessage) => void) => Promise<void>
  }>

/** A tab's part in the election of a leader: the tab that holds the lock leads. */
type TabElection = Readonly<{
  /** Takes the lock from a silent leader. */
  takeOver: () => void
  close: () => void
}>

/** Joins the election of a leader among the tabs with the same name. */
function openTabElection({
  locks,
  openChannel,
  name,
  messages,
  signal,
  lead,
}: TabElectionSettings): TabElection {
  const channel = openChannel(name)
  let queued = new AbortController()
  let known: StreamStatus | undefined
  let leads = false

  function send(message: TabMessage): void {
    if (signal.aborted || message.status?.state === 'failed') return
    messages.put(message)
    known = message.status ?? known
    // A channel cannot carry every cause.
    const { status } = message
    channel.postMessage(status === undefined ? message : { status: { ...status, cause: undefined } })
  }

  function compete(steal: boolean): void {
    queued.abort()
    const mine = (queued = new AbortController())
    const options = steal ? { steal } : { signal: AbortSignal.any([signal, mine.signal]) }
    const held = async (): Promise<void> => {
      leads = true
      const until = AbortSignal.any([signal, mine.signal])
      // Losing the lock ends this tab's connection, and the other tabs follow the new leader.
      await lead(until, (message) => {
        if (!until.aborted) send(message)
      })
    }
    locks.request(name, options, held).catch((error: Error) => {
      if (mine !== queued || signal.aborted) return
      leads = false
      // A stolen lock rejects with AbortError: queue again. Any other error means that the browser offers no locks.
      if (error.name === 'AbortError') compete(false)
      else messages.put({ error })
    })
  }

  channel.addEventListener('message', ({ data: message }) => {
    if (message.asks !== true) messages.put(message)
    else if (leads && known !== undefined) send({ status: known })
  })
  compete(false)
  channel.postMessage({ asks: true })
  return {
    takeOver() {
      if (!leads) compete(true)
    },
    close() {
      queued.abort()
      channel.close()
    },
  }
}
