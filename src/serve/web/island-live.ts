import type { StreamStatus } from '../../client/stream.ts'
import { STREAM_SILENCE_MS } from '../../client/stream.ts'
import { browserTabs, openTabPlace } from '../../client/tab-place.ts'
import type { Frame } from './island-live-page.ts'
import { isBehind, openKept, plan, release } from './island-live-page.ts'
import { wordsOf } from './island-live-pill.ts'
import { followHead } from './island-live-stream.ts'

/** How long the tab that leads may be silent before another takes its place: browsers freeze tabs. */
const LEADER_SILENCE_MS = 2 * STREAM_SILENCE_MS
const SECOND_MS = 1_000

/** Keeps a page of the present up to date, and says how that stands. Nothing on any other page. */
export function startLive(frame: Frame): void {
  const pill = document.querySelector<HTMLElement>('#live[data-live]')
  const main = document.querySelector('main')
  if (pill !== null && main !== null) keepUp(pill, main, frame)
}

function keepUp(pill: HTMLElement, main: HTMLElement, frame: Frame): void {
  const text = pill.querySelector('span')
  const pause = pill.querySelector('button')
  let gone = new AbortController()
  let status: StreamStatus | undefined
  let dueAt = 0
  let heardAt = Date.now()

  const kept = openKept(main, frame, gone.signal, write)

  function write(): void {
    const behindAt = isBehind(kept) ? kept.shown : undefined
    const [state, words] = wordsOf({ status, dueAt, heardAt, behindAt, paused: kept.paused }, Date.now())
    pill.dataset['state'] = state
    if (text !== null && text.textContent !== words) text.textContent = words
  }

  function put(told: StreamStatus): void {
    status = told
    if (told.state === 'live') heardAt = Date.now()
    dueAt = Date.now() + (told.inMs ?? 0)
    kept.head = Math.max(kept.head, told.head)
    plan(kept)
  }

  function turn(): void {
    kept.paused = !kept.paused
    if (pause !== null) pause.textContent = kept.paused ? 'Go on' : 'Pause'
    release(kept)
  }

  function begin(): void {
    gone = new AbortController()
    kept.signal = gone.signal
    follow(gone.signal, put)
    plan(kept)
  }

  if (pause !== null) pause.hidden = false
  pause?.addEventListener('click', turn)
  document.addEventListener('keydown', (event) => {
    if (event.key === 'p' && frame.isShortcut(event)) turn()
  })
  document.addEventListener('visibilitychange', () => plan(kept))
  document.addEventListener('focusout', () => setTimeout(() => release(kept)))
  addEventListener('scroll', () => release(kept), { passive: true })
  // A page that is kept for the way back holds no lock and no connection.
  addEventListener('pagehide', () => gone.abort())
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) begin()
  })
  setInterval(write, SECOND_MS)
  begin()
}

/** Follows the head over one connection for all pages of a browser: the one that holds the lock tells the others. */
function follow(signal: AbortSignal, put: (status: StreamStatus) => void): void {
  const fail = (error: Error): void =>
    put({ state: 'failed', seq: 0, head: 0, cause: error, inMs: undefined })
  // A page that is neither of https nor of this machine has no locks: then each has a stream of its own.
  if (!('locks' in navigator)) return void followHead(signal, put).catch(fail)
  let silence = 0
  const place = openTabPlace({
    ...browserTabs(),
    name: 'daybook live',
    words: {
      put({ status, error }) {
        clearTimeout(silence)
        if (error !== undefined) return fail(error)
        if (status === undefined) return
        silence = setTimeout(() => place.takeOver(), LEADER_SILENCE_MS + (status.inMs ?? 0))
        put(status)
      },
    },
    signal,
    lead: (until, say) => followHead(until, (status) => say({ status })),
  })
  signal.addEventListener('abort', () => {
    clearTimeout(silence)
    place.close()
  })
}
