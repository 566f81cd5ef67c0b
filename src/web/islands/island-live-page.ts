import { morph, newRows } from './island-live-morph.ts'
import { retryAfterMs } from './island-live-stream.ts'

/** A page is asked for again once in so long at most, and one that is a list of events itself more often. */
const LOOK_MS = 10_000
const LIST_LOOK_MS = 2_000
/** A page that is asked for when its time has come is not behind. */
const OVERDUE_MS = LOOK_MS + 2_000
/** From this status on an answer says that the page had better not be asked for, for a while. */
const BUSY = 429
/** What is new is said once in ten seconds at most; it is heard a moment after it is decided, sooner or later. */
const SAY_MS = 10_500

/** What keeping up uses of the rest of a page's script. */
export type LivePageFrame = Readonly<{
  say: (text: string) => void
  kept: (name: string) => string | null
  isShortcut: (event: KeyboardEvent) => boolean
  /** Called after the page has changed. */
  changed: () => void
}>

/** A page that is kept up to date. */
export type Kept = {
  readonly main: HTMLElement
  readonly frame: LivePageFrame
  /** The button that stands for what is held back. */
  readonly more: HTMLButtonElement
  readonly told: () => void
  /** The newest event that the page counts; NaN where it does not say. */
  shown: number
  head: number
  paused: boolean
  /** What has come and is not shown, since the reader is in the list, and the newest event that it counts. */
  held: Document | undefined
  heldSeq: number
  /** Whether the page is to be asked for whatever the stream says. */
  stale: boolean
  /** Since when there are newer events than those shown, and nobody holds them back. */
  behindSince: number | undefined
  asking: boolean
  askedAt: number
  saidAt: number
  /** New events shown of which nothing has been said yet. */
  unsaid: number
  timer: number
  /** Aborted when the page is left. */
  signal: AbortSignal
}

/** A page as it came, to be kept up to date until the signal says stop; `told` is called whenever it stands otherwise. */
export function openKept(
  main: HTMLElement,
  frame: LivePageFrame,
  signal: AbortSignal,
  told: () => void,
): Kept {
  const more = document.createElement('button')
  more.type = 'button'
  more.className = 'more'
  const never = -Math.max(LOOK_MS, SAY_MS)
  const kept: Kept = {
    main,
    frame,
    more,
    told,
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
    // The button goes: whoever pressed it by a key goes on in the list.
    listIn(main)?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
    show(kept)
    plan(kept)
  })
  return kept
}

/** Whether there have been newer events than those shown for longer than it takes to show them. */
export function isOverdue({ behindSince }: Kept): boolean {
  return behindSince !== undefined && performance.now() > behindSince + OVERDUE_MS
}

/** Asks for the page again when there is something to ask for, and not sooner than it may. */
export function plan(kept: Kept): void {
  const isBehind = kept.held === undefined && kept.shown < kept.head
  kept.behindSince = isBehind ? (kept.behindSince ?? performance.now()) : undefined
  kept.told()
  const { timer, asking, shown, head, askedAt, main, held, stale } = kept
  // Before the stream has said anything there is nothing to keep up with.
  const isWanted = stale || (head > 0 && !(shown >= head))
  if (timer !== 0 || asking || isStill(kept) || !isWanted) return
  const isList = held === undefined && listIn(main)?.dataset['liveRows'] === ''
  const every = isList ? LIST_LOOK_MS : LOOK_MS
  const again = (): void => {
    kept.timer = 0
    if (!isStill(kept)) void look(kept).finally(() => plan(kept))
  }
  kept.timer = setTimeout(again, Math.max(0, askedAt + every - performance.now()))
}

/** Shows what was held once the reader has left the list. */
export function release(kept: Kept): void {
  if (kept.held !== undefined && !kept.paused && !isRead(kept.main)) show(kept)
  plan(kept)
}

const isStill = ({ paused, signal }: Kept): boolean => paused || signal.aborted || document.hidden

async function look(kept: Kept): Promise<void> {
  const { main, head, signal } = kept
  kept.asking = true
  kept.stale = false
  kept.askedAt = performance.now()
  main.setAttribute('aria-busy', 'true')
  try {
    // Its own address, so that there is one renderer; what is unchanged costs an ETag.
    const answer = await fetch(location.href, { cache: 'no-cache', signal })
    if (answer.status >= BUSY) kept.askedAt += LOOK_MS + retryAfterMs(answer)
    // What is not there is asked for again with the next event.
    else if (!answer.ok) kept.shown = head
    if (!answer.ok) return
    // What was not there yet is there now.
    if (document.querySelector('#ahead') !== null) location.reload()
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    // Whatever was streamed is counted by what is asked for afterwards.
    const seq = seqOf(next)
    // A cache, or a node that lags, has an earlier one.
    if (seq < kept.shown) return
    kept.held = next
    kept.heldSeq = Number.isNaN(seq) ? head : seq
    keepRows(main, next)
    if (kept.paused || (isRead(main) && !isBeside(main))) hold(kept)
    else show(kept)
  } catch {
    // The stream says whether the service is there; the page is asked for again in its time.
  } finally {
    kept.asking = false
    main.removeAttribute('aria-busy')
  }
}

function show(kept: Kept): void {
  const { held, main, more, frame } = kept
  const next = held?.querySelector('main')
  kept.held = undefined
  more.remove()
  if (held === undefined || next === null || next === undefined) return
  const count = freshIn(main, next)
  document.title = held.title
  morph(main, next)
  kept.shown = kept.heldSeq
  frame.changed()
  kept.unsaid += count
  if (announce(kept, kept.unsaid, `latest ${listIn(main)?.querySelector('th')?.textContent}`)) kept.unsaid = 0
}

/** Says what is new to who wants to hear it, not too often. */
function announce(kept: Kept, count: number, what: string): boolean {
  const { frame, saidAt } = kept
  if (count === 0 || frame.kept('news') !== 'on' || performance.now() < saidAt + SAY_MS) return false
  kept.saidAt = performance.now()
  frame.say(`${eventsOf(count)}, ${what}`)
  return true
}

function hold(kept: Kept): void {
  const { held, main, more, paused } = kept
  const next = held?.querySelector('main')
  const count = next === null || next === undefined ? 0 : freshIn(main, next)
  if (count === 0 && !paused) return show(kept)
  const all = count >= (listIn(main)?.children.length ?? 0)
  more.textContent = `${all ? 'At least ' : ''}${eventsOf(count)}`
  if (!more.isConnected && count > 0) document.body.append(more)
  announce(kept, count, 'held back')
}

const eventsOf = (count: number): string => `${count} new ${count === 1 ? 'event' : 'events'}`

function listIn(page: Element): HTMLElement | null {
  return page.querySelector('[data-live-rows]')
}

/** Of a page with figures too, the rows alone wait while the reader is among them. */
function keepRows(main: Element, next: Document): void {
  const [old, fresh] = [listIn(main), listIn(next.body)]
  if (old === null || fresh === null || !isBeside(main) || !isRead(main)) return
  fresh.replaceChildren(...[...old.children].map((row) => row.cloneNode(true)))
}

const isBeside = (main: Element): boolean => listIn(main)?.dataset['liveRows'] === 'beside'

function freshIn(main: Element, next: Element): number {
  const [old, fresh] = [listIn(main), listIn(next)]
  return old === null || fresh === null ? 0 : newRows(old, fresh)
}

/** Whether the reader is in the list: its first row is above what is seen, or something in it has the focus. */
function isRead(main: Element): boolean {
  const rows = listIn(main)
  return rows !== null && (rows.contains(document.activeElement) || rows.getBoundingClientRect().top < 0)
}

/** The newest event that a page says it counts; NaN where it says none. */
function seqOf(page: Document): number {
  const said = page.querySelector<HTMLElement>('#live')?.dataset['live']
  return said === undefined || said === '' ? Number.NaN : Number(said)
}
