import type { EventWire } from '../protocol/event.ts'
import type { StreamStatus } from './stream.ts'

/** Message between tabs: a new tab asks for the status; the leader sends statuses and events. */
export type TabMessage = Readonly<{
  asks?: true
  status?: StreamStatus
  events?: readonly EventWire[]
  /** Error that keeps this tab from leading; never sent to other tabs. */
  error?: Error
}>

/** Browser features that tabs share: Web Locks and BroadcastChannel. */
export type Tabs = Readonly<{
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
export const browserTabs = (): Tabs => ({
  locks: navigator.locks,
  openChannel: (name) => new BroadcastChannel(name),
})

type TabElectionSettings = Tabs &
  Readonly<{
    name: string
    messages: Readonly<{ put: (message: TabMessage) => void }>
    signal: AbortSignal
    /** Holds the connection while this tab leads, until the signal is aborted. */
    lead: (until: AbortSignal, send: (message: TabMessage) => void) => Promise<void>
  }>

/** A tab's part in the election of a leader: the tab that holds the lock leads. */
type TabElection = Readonly<{
  /** Takes the lock from a silent leader. */
  takeOver: () => void
  /** Records that this tab has a cursor. */
  join: () => void
  isJoined: () => boolean
  close: () => void
}>

/** Joins the election of a leader among the tabs that share a name. */
export function openTabElection({
  locks,
  openChannel,
  name,
  messages,
  signal,
  lead,
}: TabElectionSettings): TabElection {
  const channel = openChannel(name)
  let queued = new AbortController()
  let joined = false
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
      // The connection of a tab that lost its lock ends, and the other tabs follow another one.
      await lead(until, (message) => {
        if (!until.aborted) send(message)
      })
    }
    locks.request(name, options, held).catch((error: Error) => {
      if (mine !== queued || signal.aborted) return
      leads = false
      // A stolen lock rejects with AbortError: queue again. Any other error means that the browser grants no locks.
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
