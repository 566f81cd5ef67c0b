import { STREAM_SILENCE_MS } from '../../client/stream.ts'
import { browserTabs, openTabElection } from '../../client/tab-election.ts'
import type { LivePageFrame } from './island-live-page.ts'
import { isOverdue, openLivePage, scheduleRefresh, showHeld } from './island-live-page.ts'
import { pillText } from './island-live-pill.ts'
import type { LiveStatus } from './island-live-stream.ts'
import { followLive } from './island-live-stream.ts'

/** Silence of the leading tab after which another takes over. Browsers freeze tabs. */
const LEADER_SILENCE_MS = STREAM_SILENCE_MS + 5_000
/** Random delay, so that not all tabs take over at once. */
const SPREAD_MS = 10_000
const SECOND_MS = 1_000
/** Time between refreshes without a live stream, which a proxy may buffer. */
const UNSTREAMED_MS = 60_000

/** Keeps a page of the present up to date and shows its status. Does nothing on other pages. */
export function startLive(frame: LivePageFrame): void {
  const pill = document.querySelector<HTMLElement>('#live[data-live]')
  const main = document.querySelector('main')
  if (pill !== null && main !== null) keepUp(pill, main, frame)
}

function keepUp(pill: HTMLElement, main: HTMLElement, frame: LivePageFrame): void {
  const text = pill.querySelector('span')
  const more = pill.querySelector('p')
  const pause = pill.querySelector('button')
  let gone = new AbortController()
  let standing: LiveStatus | undefined

  const livePage = openLivePage(main, frame, gone.signal, write)

  function write(): void {
    const { paused, head, shown } = livePage
    const { log } = pill.dataset
    const at = main.querySelector<HTMLTimeElement>('.as-of time, [data-live-rows] time')?.dateTime
    const behindAt = isOverdue(livePage) ? shown : undefined
    const [state, words] = pillText({ standing, paused, log, at, behindAt }, Date.now())
    pill.dataset['state'] = state
    if (text !== null && text.textContent !== words) text.textContent = words
    if (more === null || head === 0) return
    const counts = shown >= 0 ? ` This page counts up to #${shown}.` : ''
    more.textContent = `The newest event is #${head}.${counts}`
  }

  function put(status: LiveStatus): void {
    standing = status
    livePage.head = Math.max(livePage.head, status.head)
    scheduleRefresh(livePage)
  }

  function turn(): void {
    livePage.paused = !livePage.paused
    if (pause !== null) pause.textContent = livePage.paused ? 'Resume' : 'Pause'
    showHeld(livePage)
  }

  /** Refreshes the page now: the machine may have slept, and the stream with it. */
  function wake(): void {
    livePage.stale = true
    scheduleRefresh(livePage)
  }

  function begin(): void {
    gone = new AbortController()
    livePage.signal = gone.signal
    standing = undefined
    follow(gone.signal, put)
  }

  if (pause !== null) pause.hidden = false
  pause?.addEventListener('click', turn)
  document.addEventListener('keydown', (event) => {
    if (event.key === 'p' && frame.isShortcut(event)) turn()
  })
  document.addEventListener('visibilitychange', wake)
  document.addEventListener('focusout', () => setTimeout(() => showHeld(livePage)))
  addEventListener('scroll', () => showHeld(livePage), { passive: true })
  // A page in the back-forward cache holds no lock and no connection.
  addEventListener('pagehide', () => gone.abort())
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    begin()
    wake()
  })
  setInterval(() => {
    write()
    if (standing?.state !== 'live' && performance.now() > livePage.askedAt + UNSTREAMED_MS) wake()
  }, SECOND_MS)
  begin()
}

/** Follows the head over one connection for all tabs of a browser. The tab with the lock sends it to the others. */
function follow(signal: AbortSignal, put: (standing: LiveStatus) => void): void {
  const fail = (error: Error): void =>
    put({ state: 'failed', seq: 0, head: 0, cause: error, inMs: undefined, dueAt: 0, log: null })
  const alone = (): void => void followLive(signal, put).catch(fail)
  // Without HTTPS there are no locks, except on localhost. Then each tab has its own stream.
  if (!('locks' in navigator && 'BroadcastChannel' in window)) return alone()
  let silence = 0
  const place = openTabElection<LiveStatus>({
    ...browserTabs(),
    name: 'daybook live',
    messages: {
      put({ status, error }) {
        clearTimeout(silence)
        // The browser has locks but refuses them.
        if (error instanceof DOMException) return alone()
        if (error !== undefined) return fail(error)
        if (status === undefined) return
        const patience = LEADER_SILENCE_MS + (status.inMs ?? 0) + Math.random() * SPREAD_MS
        silence = setTimeout(() => place.takeOver(), patience)
        put(status)
      },
    },
    signal,
    lead: (until, say) => followLive(until, (status) => say({ status })),
  })
  signal.addEventListener('abort', () => {
    clearTimeout(silence)
    place.close()
  })
}
