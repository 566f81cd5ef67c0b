import type { EventWire } from '../protocol/event.ts'
import type { StreamStatus } from './stream.ts'

/** What a tab says: who is new asks how things stand; the one that leads tells the others all that comes. */
export type Word<Status extends StreamStatus = StreamStatus> = Readonly<{
  asks?: true
  status?: Status
  events?: readonly EventWire[]
  /** Why this tab can lead no more; said to itself alone. */
  error?: Error
}>

/** What the tabs of a browser share: Web Locks, and a BroadcastChannel to each other. */
export type Tabs<Status extends StreamStatus = StreamStatus> = Readonly<{
  locks: Readonly<{
    request: (
      name: string,
      options: { signal?: AbortSignal; steal?: boolean },
      held: () => Promise<void>,
    ) => Promise<unknown>
  }>
  openChannel: (name: string) => Readonly<{
    postMessage: (word: Word<Status>) => void
    addEventListener: (kind: 'message', heard: (message: { data: Word<Status> }) => void) => void
    close: () => void
  }>
}>

export const browserTabs = <Status extends StreamStatus>(): Tabs<Status> => ({
  locks: navigator.locks,
  openChannel: (name) => new BroadcastChannel(name),
})

export type TabPlaceSettings<Status extends StreamStatus = StreamStatus> = Tabs<Status> &
  Readonly<{
    name: string
    words: Readonly<{ put: (word: Word<Status>) => void }>
    signal: AbortSignal
    /** Holds the connection until it is told to stop. */
    lead: (until: AbortSignal, say: (word: Word<Status>) => void) => Promise<void>
  }>

/** A tab's place among the others: it waits for the lock, and leads while it holds it. */
export type TabPlace = Readonly<{
  /** Takes the lock from a tab that says nothing. */
  takeOver: () => void
  join: () => void
  isJoined: () => boolean
  close: () => void
}>

/** Takes a place among the tabs that share a name. */
export function openTabPlace<Status extends StreamStatus = StreamStatus>({
  locks,
  openChannel,
  name,
  words,
  signal,
  lead,
}: TabPlaceSettings<Status>): TabPlace {
  const channel = openChannel(name)
  let queued = new AbortController()
  let joined = false
  let known: Status | undefined
  let leads = false

  function say(word: Word<Status>): void {
    if (signal.aborted || word.status?.state === 'failed') return
    words.put(word)
    known = word.status ?? known
    // A cause may hold what no channel can carry.
    const { status } = word
    channel.postMessage(status === undefined ? word : { status: { ...status, cause: undefined } })
  }

  function compete(steal: boolean): void {
    queued.abort()
    const mine = (queued = new AbortController())
    const options = steal ? { steal } : { signal: AbortSignal.any([signal, mine.signal]) }
    const held = async (): Promise<void> => {
      leads = true
      await lead(AbortSignal.any([signal, mine.signal]), say)
    }
    locks.request(name, options, held).catch((error: Error) => {
      if (mine !== queued || signal.aborted) return
      leads = false
      // What takes a lock away rejects as an abort does; then this tab stands in line again, and not where none is given.
      if (error.name === 'AbortError') compete(false)
      else words.put({ error })
    })
  }

  channel.addEventListener('message', ({ data: word }) => {
    if (word.asks !== true) words.put(word)
    else if (leads && known !== undefined) say({ status: known })
  })
  compete(false)
  channel.postMessage({ asks: true })
  return {
    takeOver() {
      if (!leads) compete(true)
    },
    join() {
      joined = true
    },
    isJoined: () => joined,
    close() {
      queued.abort()
      channel.close()
    },
  }
}
