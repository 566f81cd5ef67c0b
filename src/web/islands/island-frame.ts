/**
 * Scripts of pages. Each file `island-NAME.ts` in `assets.ts` is one script; the others are parts of them. They may
 * import the client, `verify` and the markup of pages, and run only in browsers. A page works without them. Begin to
 * read here: this script keeps most pages up to date. `island-verify.ts` is the verifier.
 */
import { STREAM_SILENCE_MS } from '../../client/stream.ts'
import {
  cancelRefresh,
  isOverdue,
  type LivePage,
  openLivePage,
  scheduleRefresh,
  showHeld,
} from './island-live-page.ts'
import { followLive, type LiveStatus } from './island-live-stream.ts'
import { isShortcut, put } from './island-still.ts'

/** Name of the lock and of the channel of all tabs. */
const CHANNEL = 'daybook live'
/** Silence of the leading tab after which the other tabs no longer count as live. */
const LEADER_SILENCE_MS = STREAM_SILENCE_MS + 5_000
/** Time between two checks for overdue events. */
const LOOK_MS = 5_000
/**
 * Time after which a page is refreshed without an event. States change with the clock, and a proxy may buffer the
 * stream.
 */
const LEAST_MS = 60_000

/** Keeps a current page up to date and shows its status. Does nothing on other pages. */
function startLive(): void {
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

  /** Ends all work. A page that is hidden or in the back-forward cache has no timer, lock or connection. */
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
 * Follows the head over one connection for all visible tabs of a browser. The tab with the lock has the connection and
 * sends its status to the others.
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
  const notify = (status: LiveStatus): void => {
    known = status
    take(status)
    // A tab that asked for the status may have it already.
    if (!signal.aborted) channel.postMessage(status)
  }
  navigator.locks
    .request(CHANNEL, { signal }, () => followLive(signal, notify))
    // The browser has locks but refuses them.
    .catch(() => followLive(signal, take))
  channel.postMessage(null)
  signal.addEventListener('abort', () => channel.close())
}

/** Input of the pill's text. Moments are wall-clock times in milliseconds. */
type PillInput = Readonly<{
  standing: LiveStatus | undefined
  paused: boolean
  /** Newest seq of the log, and of the page; 0 and NaN when unknown. */
  head: number
  shown: number
  /** Whether newer events are overdue on the page. */
  overdue: boolean
  /** Status of a refused page, and the time of the next request; undefined without a refusal. */
  refused: Readonly<{ status: number; until: number }> | undefined
}>

/** Content of the pill: state for colour and shape, word, meaning of the word, and whether a notice repeats it. */
type PillText = readonly [state: string, word: string, meaning?: string, noticed?: true]

const clock = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)} UTC`

function pillText(
  { standing, paused, overdue, refused, head }: PillInput,
  log: string | undefined,
): PillText {
  const { state, limited, dueAt = 0 } = standing ?? {}
  if (standing?.log && standing.log !== log) {
    return ['lost', 'Not live', 'Another log is here: reload the page.', true]
  }
  if (paused) return ['paused', 'Paused']
  if (refused !== undefined || (limited === true && state === 'waiting')) {
    const { status, until } = refused ?? { status: 429, until: dueAt }
    const cause = status === 429 ? 'Too many requests from your address.' : 'The service cannot answer now.'
    return ['waiting', 'Waiting', `${cause} This page updates again at ${clock(until)}.`, true]
  }
  if (state === 'live' && head === 0) return ['live', 'Live', 'The log has no event yet.']
  if (state === 'live') return overdue ? ['waiting', 'Behind'] : ['live', 'Live']
  if (state === 'failed') return ['lost', 'Not live', 'Reload the page for newer events.']
  const due = `The next try is at ${clock(dueAt)}.`
  if (state === 'offline') return ['lost', 'Offline', `The service cannot be reached. ${due}`]
  if (state !== 'waiting') return ['waiting', 'Not live']
  return ['waiting', 'Waiting', `No stream: this page updates every minute. ${due}`]
}

/** Opens the pill. The returned function shows a word, its meaning on demand, and urgent news in a notice. */
function openPill(pill: HTMLElement): (input: PillInput) => void {
  const [word, more] = pill.querySelectorAll('span, p')
  const notice = document.createElement('p')
  notice.className = 'notice'
  return (input) => {
    const { head, shown } = input
    const [state, said, meaning = '', noticed] = pillText(input, pill.dataset['log'])
    pill.dataset['state'] = state
    put(word, said)
    const counts = shown >= 0 ? ` This page counts up to event ${shown}.` : ''
    const newest = head === 0 ? '' : `The newest event is ${head}.${counts}`
    put(more, [meaning, newest].join(' ').trim() || more?.textContent)
    put(notice, meaning)
    // It lies over the page, so that nothing moves.
    if (noticed !== true) notice.remove()
    else if (!notice.isConnected) document.body.append(notice)
  }
}

try {
  startLive()
} catch {
  // An older browser: the page is not live, and the other scripts continue.
}
