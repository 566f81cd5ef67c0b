import { STREAM_SILENCE_MS } from '../../client/stream.ts'
import { browserTabs, openTabElection } from '../../client/tab-election.ts'
import type { LivePageFrame } from './island-live-page.ts'
import { isOverdue, openKept, plan, release } from './island-live-page.ts'
import { wordsOf } from './island-live-pill.ts'
import type { Standing } from './island-live-stream.ts'
import { followLive } from './island-live-stream.ts'

/** How long the tab that leads may be silent before another takes its place: browsers freeze tabs. */
const LEADER_SILENCE_MS = STREAM_SILENCE_MS + 5_000
/** Tabs that miss it do not all take over together. */
const SPREAD_MS = 10_000
const SECOND_MS = 1_000
/** Without a live stream the page is asked for again in so long, since a proxy may hold back what is streamed. */
const UNSTREAMED_MS = 60_000

/** Keeps a page of the present up to date, and says how that stands. Nothing on any other page. */
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
  let standing: Standing | undefined

  const kept = openKept(main, frame, gone.signal, write)

  function write(): void {
    const { paused, head, shown } = kept
    const { log } = pill.dataset
    const at = main.querySelector<HTMLTimeElement>('.as-of time, [data-live-rows] time')?.dateTime
    const behindAt = isOverdue(kept) ? shown : undefined
    const [state, words] = wordsOf({ standing, paused, log, at, behindAt }, Date.now())
    pill.dataset['state'] = state
    if (text !== null && text.textContent !== words) text.textContent = words
    if (more === null || head === 0) return
    const counts = shown >= 0 ? ` This page counts up to #${shown}.` : ''
    more.textContent = `The newest event is #${head}.${counts}`
  }

  function put(told: Standing): void {
    standing = told
    kept.head = Math.max(kept.head, told.head)
    plan(kept)
  }

  function turn(): void {
    kept.paused = !kept.paused
    if (pause !== null) pause.textContent = kept.paused ? 'Resume' : 'Pause'
    release(kept)
  }

  /** Asks for the page whatever the stream says: it may have slept with the machine. */
  function wake(): void {
    kept.stale = true
    plan(kept)
  }

  function begin(): void {
    gone = new AbortController()
    kept.signal = gone.signal
    standing = undefined
    follow(gone.signal, put)
  }

  if (pause !== null) pause.hidden = false
  pause?.addEventListener('click', turn)
  document.addEventListener('keydown', (event) => {
    if (event.key === 'p' && frame.isShortcut(event)) turn()
  })
  document.addEventListener('visibilitychange', wake)
  document.addEventListener('focusout', () => setTimeout(() => release(kept)))
  addEventListener('scroll', () => release(kept), { passive: true })
  // A page that is kept for the way back holds no lock and no connection.
  addEventListener('pagehide', () => gone.abort())
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    begin()
    wake()
  })
  setInterval(() => {
    write()
    if (standing?.state !== 'live' && performance.now() > kept.askedAt + UNSTREAMED_MS) wake()
  }, SECOND_MS)
  begin()
}

/** Follows the head over one connection for all pages of a browser: the one that holds the lock tells the others. */
function follow(signal: AbortSignal, put: (standing: Standing) => void): void {
  const fail = (error: Error): void =>
    put({ state: 'failed', seq: 0, head: 0, cause: error, inMs: undefined, dueAt: 0, log: null })
  const alone = (): void => void followLive(signal, put).catch(fail)
  // A page that is neither of https nor of this machine has no locks: then each has a stream of its own.
  if (!('locks' in navigator && 'BroadcastChannel' in window)) return alone()
  let silence = 0
  const place = openTabElection<Standing>({
    ...browserTabs(),
    name: 'daybook live',
    messages: {
      put({ status, error }) {
        clearTimeout(silence)
        // Locks that a browser has and does not give.
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
