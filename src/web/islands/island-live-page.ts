import { BACKOFF_MS } from '../../client/ask.ts'
import { retryAfterMs } from './island-live-stream.ts'
import { prepare, put, say, storedSetting } from './island-still.ts'

/** Least time between refreshes of a page. A page that is a list of events is refreshed more often. */
const REFRESH_MS = 10_000
const LIST_REFRESH_MS = 2_000
/** Grace period before a page counts as behind. */
const OVERDUE_MS = REFRESH_MS + 2_000
/** Lowest status after which refreshes are delayed, and the delay when the service states none. */
const BUSY = 429
const BUSY_MS = 20_000
/** Timeout of a request for a page, because an answer may be lost. */
const ANSWER_MS_MAX = 30_000
/** Least time between announcements to screen readers: ten seconds plus their delay. */
const SAY_MS = 10_500

/** State of a live page. */
export type LivePage = {
  readonly main: HTMLElement
  /** Button that shows the held rows. */
  readonly more: HTMLButtonElement
  /** Called when the state changes. */
  onChange: () => void
  /** Newest seq that the page counts; NaN when unknown. */
  shown: number
  head: number
  paused: boolean
  /** Newest page while some of its rows are not shown yet, and the lists that keep their rows. */
  held: string | undefined
  kept: readonly Element[]
  /** Whether the page needs a refresh regardless of the stream. */
  stale: boolean
  /** Time since which the page lacks newer events. */
  behindSince: number | undefined
  asking: boolean
  /** Monotonic time of the last request for the page, and of the next one after a refusal. */
  askedAt: number
  notBefore: number
  /** Refusal of the last request, and the wall-clock time until which it lasts. */
  refused: Readonly<{ status: number; until: number }> | undefined
  saidAt: number
  /** Number of shown events that are not announced yet. */
  unsaid: number
  timer: number
  /** Aborted when the page is out of sight. */
  signal: AbortSignal
}

/** Opens a live page. */
export function openLivePage(main: HTMLElement): LivePage {
  const more = document.createElement('button')
  more.type = 'button'
  more.className = 'more'
  // The longest of the least times.
  const never = -SAY_MS
  const page: LivePage = {
    main,
    more,
    onChange: () => undefined,
    signal: AbortSignal.abort(),
    shown: seqIn(document.body.outerHTML),
    head: 0,
    paused: false,
    held: undefined,
    kept: [],
    stale: false,
    behindSince: undefined,
    asking: false,
    askedAt: never,
    notBefore: never,
    refused: undefined,
    saidAt: never,
    unsaid: 0,
    timer: 0,
  }
  more.addEventListener('click', () => {
    const list = liveRowsIn(main)
    if (list !== null) scrollTo({ top: 0 })
    // The button disappears, so keyboard focus moves to the list.
    list?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
    show(page, page.held, true)
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
  page.behindSince = page.shown < page.head ? (page.behindSince ?? performance.now()) : undefined
  page.onChange()
  const { timer, asking, shown, head, askedAt, notBefore, main, held, stale, refused } = page
  // The head is unknown before the first message of the stream.
  const isWanted = stale || refused !== undefined || (head > 0 && !(shown >= head))
  if (timer !== 0 || asking || isIdle(page) || !isWanted) return
  const every = held === undefined && liveRowsIn(main) !== null ? LIST_REFRESH_MS : REFRESH_MS
  const again = (): void => {
    page.timer = 0
    if (!isIdle(page)) void refresh(page).finally(() => scheduleRefresh(page))
  }
  page.timer = setTimeout(
    again,
    Math.max(0, askedAt + every - performance.now(), notBefore - performance.now()),
  )
}

/** Cancels the scheduled refresh. */
export function cancelRefresh(page: LivePage): void {
  clearTimeout(page.timer)
  page.timer = 0
}

/** Shows the held rows when the reader has left their lists. */
export function showHeld(page: LivePage): void {
  if (page.held === undefined || page.kept.some(isRead)) return
  show(page, page.held)
  scheduleRefresh(page)
}

const isIdle = ({ paused, signal }: LivePage): boolean => paused || signal.aborted || document.hidden

async function refresh(page: LivePage): Promise<void> {
  const { head, signal } = page
  page.asking = true
  page.stale = false
  // A new request ends the last refusal, even when the service cannot be reached now.
  page.refused = undefined
  page.askedAt = performance.now()
  try {
    // Requests the same URL, so that there is only one renderer. An unchanged page costs a 304.
    const answer = await fetch(location.href, {
      cache: 'no-cache',
      priority: 'low',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
    })
    const isAhead = document.querySelector('#ahead') !== null
    if (answer.status >= BUSY) refuse(page, answer)
    else if (!answer.ok) {
      // A missing page is requested again after the next event.
      page.shown = head
      if (isAhead) show(page, await answer.text())
      // The page of a future event exists now.
    } else if (isAhead) location.reload()
    else take(page, await answer.text(), head)
  } catch {
    // The stream shows whether the service is available. The next refresh is scheduled anyway.
  } finally {
    page.asking = false
  }
}

/** Delays the next request as the service asks, and up to a second more to spread out pages. */
function refuse(page: LivePage, answer: Response): void {
  const ms = (retryAfterMs(answer) || BUSY_MS) + Math.random() * BACKOFF_MS
  page.notBefore = performance.now() + ms
  page.refused = { status: answer.status, until: Date.now() + ms }
}

/** Takes the page from an answer. `head` was the newest event when the page was requested. */
function take(page: LivePage, text: string, head: number): void {
  const seq = seqIn(text)
  // An older page comes from a cache or from a node that lags.
  if (seq < page.shown || page.paused) return
  page.shown = Number.isNaN(seq) ? head : seq
  show(page, text)
}

/** Title and main part of a page. The rest is never used. */
function parsePage(text: string): Document {
  const [title = ''] = /<title>.*?<\/title>/s.exec(text) ?? []
  const main = text.slice(text.indexOf('<main'), text.indexOf('</main>'))
  return new DOMParser().parseFromString(title + main, 'text/html')
}

/** Shows a page. Visible lists keep their rows until the reader asks for `all`. */
function show(page: LivePage, text = '', all = false): void {
  const { main, more } = page
  const { title, body } = parsePage(text)
  const next = body.querySelector('main')
  if (next === null) return
  prepare(next)
  const [list, newer] = [liveRowsIn(main), liveRowsIn(next)]
  const count = list === null || newer === null ? 0 : newRows(list, newer)
  const kept = all ? [] : keepRows(main, next)
  page.kept = kept
  page.held = kept.length > 0 ? text : undefined
  document.title = title
  morph(main, next)
  document.dispatchEvent(new Event('daybook-changed'))
  if (kept.length === 0) {
    more.remove()
    page.unsaid += count
    const latest = liveRowsIn(main)?.querySelector('th, a')?.textContent
    if (announce(page, page.unsaid, `latest ${latest}`)) page.unsaid = 0
    return
  }
  const least = count >= (list?.children.length ?? 0) ? 'At least ' : ''
  put(more, list === null ? 'Show what is new' : least + eventsOf(count))
  if (!more.isConnected) document.body.append(more)
  announce(page, count, 'held back')
}

/** Announces new events to screen readers at most every `SAY_MS`, if the reader has turned that on. */
function announce(page: LivePage, count: number, what: string): boolean {
  if (count === 0 || storedSetting('news') !== 'on' || performance.now() < page.saidAt + SAY_MS) return false
  page.saidAt = performance.now()
  say(`${eventsOf(count)}, ${what}`)
  return true
}

const eventsOf = (count: number): string => `${count} new ${count === 1 ? 'event' : 'events'}`

/** Newest seq that a page counts; NaN when it states none. */
function seqIn(page: string): number {
  return Number(/data-live="(\d+)"/.exec(page)?.[1])
}

/** Elements that stay unchanged: forms, and additions by scripts. */
const UNTOUCHED = 'form, .slider, svg .reading'
/** Lists, whose rows are matched by key. */
const LISTS = 'tbody, ol'
/** Attributes that stay unchanged: details opened by a reader, and elements shown by a script. */
const READER_ATTRIBUTES: ReadonlySet<string> = new Set(['open', 'hidden'])

/**
 * Changes a page into a newer version of itself. Writes only differences, so that focus, selection, open details and
 * scroll position stay. The browser compares equal parts, which takes a tenth of a script's time.
 */
function morph(old: Element, next: Element): void {
  if (old.isEqualNode(next)) return
  for (const name of old.getAttributeNames()) {
    if (!READER_ATTRIBUTES.has(name) && !next.hasAttribute(name)) old.removeAttribute(name)
  }
  for (const { name, value } of next.attributes) {
    if (!READER_ATTRIBUTES.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
  if (old.matches(LISTS)) return morphRows(old, next)
  const [olds, nexts] = [[...old.childNodes].filter(isOurs), [...next.childNodes]]
  for (const [index, node] of nexts.entries()) {
    const here = olds[index]
    if (here === undefined) old.append(node)
    else if (here.nodeName !== node.nodeName) here.replaceWith(node)
    else if (here instanceof Element && node instanceof Element) {
      if (!here.matches(UNTOUCHED)) morph(here, node)
    } else if (here.nodeValue !== node.nodeValue) here.nodeValue = node.nodeValue
  }
  for (const extra of olds.slice(nexts.length)) extra.remove()
}

const isOurs = (node: Node): boolean => !(node instanceof Element && node.matches('.reading'))

/** Changes the rows of a table or a list, matched by key. A row that stays is not moved. */
function morphRows(old: Element, next: Element): void {
  const known = rowsByKey(old)
  let before = old.firstElementChild
  for (const [key, row] of rowsByKey(next)) {
    const here = known.get(key)
    known.delete(key)
    if (here === undefined) {
      old.insertBefore(row, before)
      continue
    }
    // Removed rows in between are skipped here and removed below.
    if (here !== before && !isAfter(before, here)) old.insertBefore(here, before)
    else before = here.nextElementSibling
    morph(here, row)
  }
  for (const gone of known.values()) gone.remove()
}

function isAfter(first: Element | null, second: Element): boolean {
  return first !== null && (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) > 0
}

/**
 * Rows by key, with a counter for equal keys. The key is `data-key`, or the row's first link or moment, which no script
 * changes.
 */
function rowsByKey(list: Element): Map<string, Element> {
  const rows = new Map<string, Element>()
  for (const row of list.children) {
    const named = row.querySelector('th a, th time, td time')
    const key =
      row.getAttribute('data-key') ??
      named?.getAttribute('href') ??
      named?.getAttribute('datetime') ??
      row.firstElementChild?.textContent
    let count = 0
    while (rows.has(`${key} ${count}`)) count += 1
    rows.set(`${key} ${count}`, row)
  }
  return rows
}

/** Number of rows of a newer list that are not in the old one. */
function newRows(list: Element, next: Element): number {
  const known = rowsByKey(list)
  return [...rowsByKey(next).keys()].filter((key) => !known.has(key)).length
}

/** List of newest events; null on a page without one. */
function liveRowsIn(page: Element): HTMLElement | null {
  return page.querySelector('[data-live-rows]')
}

/**
 * Whether a reader is reading a list: something in it has the focus, or it is visible. The list of newest events does
 * not count while its top is visible.
 */
function isRead(list: Element): boolean {
  const { top, bottom } = list.getBoundingClientRect()
  const isSeen = list.matches('[data-live-rows]') ? top < 0 : bottom > 0 && top < innerHeight
  return isSeen || list.contains(document.activeElement)
}

/** Gives lists that are being read the rows of the old page, if rows have come or gone. Returns these lists. */
function keepRows(main: Element, next: Element): readonly Element[] {
  const newer = [...next.querySelectorAll(LISTS)]
  const lists = [...main.querySelectorAll(LISTS)]
  if (lists.length !== newer.length) return []
  return lists.filter((list, index) => {
    const fresh = newer[index]
    const keys = (rows: Element): string => [...rowsByKey(rows).keys()].join()
    if (fresh === undefined || !isRead(list) || keys(list) === keys(fresh)) return false
    fresh.replaceChildren(...list.cloneNode(true).childNodes)
    return true
  })
}
