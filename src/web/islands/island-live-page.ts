import { morph, newRows } from './island-live-morph.ts'
import { retryAfterMs } from './island-live-stream.ts'

/** Least time between refreshes of a page. A page that is a list of events is refreshed more often. */
const REFRESH_MS = 10_000
const LIST_REFRESH_MS = 2_000
/** Grace period before a page counts as behind. */
const OVERDUE_MS = REFRESH_MS + 2_000
/** Lowest status after which refreshes are delayed. */
const BUSY = 429
/** Least time between announcements to screen readers: ten seconds, and some for their delay. */
const SAY_MS = 10_500

/** Parts of the page's script that a live page uses. */
export type LivePageFrame = Readonly<{
  say: (text: string) => void
  setting: (name: string) => string | null
  isShortcut: (event: KeyboardEvent) => boolean
  /** Called after the page has changed. */
  changed: () => void
}>

/** State of a live page. */
type LivePage = {
  readonly main: HTMLElement
  readonly frame: LivePageFrame
  /** Button that shows the held rows. */
  readonly more: HTMLButtonElement
  readonly onChange: () => void
  /** Newest seq that the page counts; NaN when unknown. */
  shown: number
  head: number
  paused: boolean
  /** A refreshed page that is not shown yet, because the reader is in the list; and its newest seq. */
  held: Document | undefined
  heldSeq: number
  /** Whether the page needs a refresh regardless of the stream. */
  stale: boolean
  /** Time since which newer events exist that are neither shown nor held. */
  behindSince: number | undefined
  asking: boolean
  askedAt: number
  saidAt: number
  /** Number of new events that are shown and not announced yet. */
  unsaid: number
  timer: number
  /** Aborted when the page is left. */
  signal: AbortSignal
}

/** Opens a live page, refreshed until the signal aborts. `onChange` is called when its state changes. */
export function openLivePage(
  main: HTMLElement,
  frame: LivePageFrame,
  signal: AbortSignal,
  onChange: () => void,
): LivePage {
  const more = document.createElement('button')
  more.type = 'button'
  more.className = 'more'
  const never = -Math.max(REFRESH_MS, SAY_MS)
  const page: LivePage = {
    main,
    frame,
    more,
    onChange,
    signal,
    shown: seqOf(document),
    head: 0,
    paused: false,
    held: undefined,
    heldSeq: 0,
    stale: false,
    behindSince: undefined,
    asking: false,
    askedAt: never,
    saidAt: never,
    unsaid: 0,
    timer: 0,
  }
  more.addEventListener('click', () => {
    scrollTo({ top: 0 })
    // The button disappears, so keyboard focus moves to the list.
    listIn(main)?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
    show(page)
    scheduleRefresh(page)
  })
  return page
}

/** Whether newer events have been missing for longer than the grace period. */
export function isOverdue({ behindSince }: LivePage): boolean {
  return behindSince !== undefined && performance.now() > behindSince + OVERDUE_MS
}

/** Schedules a refresh when the page needs one, no sooner than allowed. */
export function scheduleRefresh(page: LivePage): void {
  const isBehind = page.held === undefined && page.shown < page.head
  page.behindSince = isBehind ? (page.behindSince ?? performance.now()) : undefined
  page.onChange()
  const { timer, asking, shown, head, askedAt, main, held, stale } = page
  // Before the first message of the stream the head is unknown.
  const isWanted = stale || (head > 0 && !(shown >= head))
  if (timer !== 0 || asking || isPaused(page) || !isWanted) return
  const isList = held === undefined && listIn(main)?.dataset['liveRows'] === ''
  const every = isList ? LIST_REFRESH_MS : REFRESH_MS
  const again = (): void => {
    page.timer = 0
    if (!isPaused(page)) void refresh(page).finally(() => scheduleRefresh(page))
  }
  page.timer = setTimeout(again, Math.max(0, askedAt + every - performance.now()))
}

/** Shows the held page when the reader has left the list. */
export function showHeld(page: LivePage): void {
  if (page.held !== undefined && !page.paused && !isReaderInList(page.main)) show(page)
  scheduleRefresh(page)
}

const isPaused = ({ paused, signal }: LivePage): boolean => paused || signal.aborted || document.hidden

async function refresh(page: LivePage): Promise<void> {
  const { main, head, signal } = page
  page.asking = true
  page.stale = false
  page.askedAt = performance.now()
  main.setAttribute('aria-busy', 'true')
  try {
    // The same URL, so that there is one renderer. An unchanged page costs a 304.
    const answer = await fetch(location.href, { cache: 'no-cache', signal })
    if (answer.status >= BUSY) page.askedAt += REFRESH_MS + retryAfterMs(answer)
    // A page that is not there is requested again after the next event.
    else if (!answer.ok) page.shown = head
    if (!answer.ok) return
    // The page of a future event exists now.
    if (document.querySelector('#ahead') !== null) location.reload()
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const seq = seqOf(next)
    // An older page comes from a cache or from a node that lags.
    if (seq < page.shown) return
    page.held = next
    page.heldSeq = Number.isNaN(seq) ? head : seq
    keepOldRows(main, next)
    if (page.paused || (isReaderInList(main) && !isBeside(main))) announceHeld(page)
    else show(page)
  } catch {
    // The stream shows whether the service is there. The next refresh is scheduled anyway.
  } finally {
    page.asking = false
    main.removeAttribute('aria-busy')
  }
}

function show(page: LivePage): void {
  const { held, main, more, frame } = page
  const next = held?.querySelector('main')
  page.held = undefined
  more.remove()
  if (held === undefined || next === null || next === undefined) return
  const count = newRowsIn(main, next)
  document.title = held.title
  morph(main, next)
  page.shown = page.heldSeq
  frame.changed()
  page.unsaid += count
  if (announce(page, page.unsaid, `latest ${listIn(main)?.querySelector('th')?.textContent}`)) page.unsaid = 0
}

/** Announces new events to screen readers when the reader has turned that on, not too often. */
function announce(page: LivePage, count: number, what: string): boolean {
  const { frame, saidAt } = page
  if (count === 0 || frame.setting('news') !== 'on' || performance.now() < saidAt + SAY_MS) return false
  page.saidAt = performance.now()
  frame.say(`${eventsOf(count)}, ${what}`)
  return true
}

function announceHeld(page: LivePage): void {
  const { held, main, more, paused } = page
  const next = held?.querySelector('main')
  const count = next === null || next === undefined ? 0 : newRowsIn(main, next)
  if (count === 0 && !paused) return show(page)
  const all = count >= (listIn(main)?.children.length ?? 0)
  more.textContent = `${all ? 'At least ' : ''}${eventsOf(count)}`
  if (!more.isConnected && count > 0) document.body.append(more)
  announce(page, count, 'held back')
}

const eventsOf = (count: number): string => `${count} new ${count === 1 ? 'event' : 'events'}`

function listIn(page: Element): HTMLElement | null {
  return page.querySelector('[data-live-rows]')
}

/** On a page with figures, holds back only the rows while the reader is in them. */
function keepOldRows(main: Element, next: Document): void {
  const [old, fresh] = [listIn(main), listIn(next.body)]
  if (old === null || fresh === null || !isBeside(main) || !isReaderInList(main)) return
  fresh.replaceChildren(...[...old.children].map((row) => row.cloneNode(true)))
}

const isBeside = (main: Element): boolean => listIn(main)?.dataset['liveRows'] === 'beside'

function newRowsIn(main: Element, next: Element): number {
  const [old, fresh] = [listIn(main), listIn(next)]
  return old === null || fresh === null ? 0 : newRows(old, fresh)
}

/** Whether the reader is in the list: its top is scrolled out of view, or something in it has the focus. */
function isReaderInList(main: Element): boolean {
  const rows = listIn(main)
  return rows !== null && (rows.contains(document.activeElement) || rows.getBoundingClientRect().top < 0)
}

/** Newest seq that a page counts; NaN when it states none. */
function seqOf(page: Document): number {
  const seq = page.querySelector<HTMLElement>('#live')?.dataset['live']
  return seq === undefined || seq === '' ? Number.NaN : Number(seq)
}
