import { STREAM_SILENCE_MS } from '../../client/stream.ts'
import {
  cancelRefresh,
  isOverdue,
  type LivePage,
  openLivePage,
  scheduleRefresh,
  showHeld,
} from './island-live-page.ts'
import { openPill } from './island-live-pill.ts'
import { followLive, type LiveStatus } from './island-live-stream.ts'
import { isShortcut, put } from './island-still.ts'

/** Name of the lock and of the channel of all tabs. */
const CHANNEL = 'daybook live'
/** Silence of the leading tab after which another tab no longer counts as live. */
const LEADER_SILENCE_MS = STREAM_SILENCE_MS + 5_000
/** Time between looks at what is overdue. */
const LOOK_MS = 5_000
/** Time after which a page is refreshed without an event: states change with the clock, and a proxy may buffer the stream. */
const LEAST_MS = 60_000

/** Keeps a page of the present up to date and shows its status. Does nothing on other pages. */
export function startLive(): void {
  const pill = document.querySelector<HTMLElement>('#live[data-live]')
  const main = document.querySelector('main')
  if (pill !== null && main !== null) keepUp(pill, openLivePage(main))
}

function keepUp(pill: HTMLElement, page: LivePage): void {
  const showPill = openPill(pill)
  const pause = pill.querySelector('button')
  let gone: AbortController | undefined
  let standing: LiveStatus | undefined
  let heardAt = 0
  let looking = 0
  const write = (): void => showPill({ ...page, standing, overdue: isOverdue(page) })

  function take(status: LiveStatus): void {
    standing = status
    heardAt = performance.now()
    page.head = Math.max(page.head, status.head)
    scheduleRefresh(page)
  }

  function turn(): void {
    page.paused = !page.paused
    put(pause, page.paused ? 'Resume' : 'Pause')
    showHeld(page)
    scheduleRefresh(page)
  }

  function look(): void {
    const now = performance.now()
    if (now > heardAt + LEADER_SILENCE_MS && standing?.state === 'live') standing = undefined
    write()
    if (now < page.askedAt + LEAST_MS) return
    page.stale = true
    scheduleRefresh(page)
  }

  /** Follows the log while the page is in sight. */
  function begin(): void {
    if (document.hidden || gone !== undefined) return
    gone = new AbortController()
    page.signal = gone.signal
    standing = undefined
    looking = setInterval(look, LOOK_MS)
    follow(gone.signal, take)
  }

  /** Ends all work: a page out of sight, or in the back-forward cache, has no timer, no lock and no connection. */
  function end(): void {
    gone?.abort()
    gone = undefined
    clearInterval(looking)
    cancelRefresh(page)
  }

  /** Goes on with a refresh, because time has passed. */
  function resume(): void {
    page.stale = true
    begin()
    scheduleRefresh(page)
  }

  page.onChange = write
  offerPause(pause, turn)
  document.addEventListener('visibilitychange', () => (document.hidden ? end() : resume()))
  document.addEventListener('focusout', () => setTimeout(() => showHeld(page)))
  addEventListener('scroll', () => showHeld(page), { passive: true })
  addEventListener('pagehide', end)
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) resume()
  })
  begin()
}

/** Shows the button that pauses the page, and makes `p` its key. */
function offerPause(pause: HTMLElement | null, turn: () => void): void {
  if (pause !== null) pause.hidden = false
  pause?.addEventListener('click', turn)
  document.addEventListener('keydown', (event) => {
    if (event.key === 'p' && isShortcut(event)) turn()
  })
}

/**
 * Follows the head over one connection for all tabs of a browser that are in sight. The tab with the lock has the
 * connection, and sends its status to the others.
 */
function follow(signal: AbortSignal, take: (status: LiveStatus) => void): void {
  // Without HTTPS there are no locks, except on localhost. Then each tab has its own stream.
  if (!('locks' in navigator)) return void followLive(signal, take)
  const channel = new BroadcastChannel(CHANNEL)
  let known: LiveStatus | undefined
  channel.addEventListener('message', ({ data }: MessageEvent<LiveStatus | null>) => {
    if (data !== null) take(data)
    else if (known !== undefined) channel.postMessage(known)
  })
  const tell = (status: LiveStatus): void => {
    known = status
    take(status)
    // A tab that asked for the status may know it already.
    if (!signal.aborted) channel.postMessage(status)
  }
  navigator.locks
    .request(CHANNEL, { signal }, () => followLive(signal, tell))
    // The browser has locks but refuses them.
    .catch(() => followLive(signal, take))
  channel.postMessage(null)
  signal.addEventListener('abort', () => channel.close())
}
