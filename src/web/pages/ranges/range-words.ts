import { ceilTo, DAY_MS, floorTo, formatAt, MINUTE_MS, msOf } from '../../../protocol/moment.ts'
import { type Html, html } from '../../markup/html.ts'
import { monthWords } from '../../markup/moment-html.ts'
import { dayWords } from '../../markup/time-words.ts'

/**
 * Range of an answer with its buckets, the launch of the log, and the moment of its newest event. `now` is the current
 * time if the answer depends on it. `toMs` is exclusive.
 */
type NamedRange = Readonly<{
  fromMs: number
  toMs: number
  launchedAtMs: number | null
  asOf: Readonly<{ atMs: number | null }>
  now?: Readonly<{ atMs: number | null }> | null
  buckets: readonly Readonly<{ at: string; complete: boolean }>[]
}>

/** Name of a range with its preposition: in `October 2026`, on `3 October 2026`. */
type RangeName = Readonly<{ before: 'in' | 'on' | 'from'; words: string }>

/**
 * Name of the part of a range that the log covers, in UTC. A year, a month and a day have their names, other days the
 * first and last day. Any other range has its ends to the minute.
 */
export function rangeName({ fromMs, toMs, launchedAtMs, asOf, now, buckets }: NamedRange): RangeName {
  const startMs =
    launchedAtMs !== null && launchedAtMs > fromMs && launchedAtMs < toMs ? launchedAtMs : fromMs
  // Every bucket of a range has begun.
  const growing = buckets.findLast(({ complete }) => !complete)
  const isGrowing = growing !== undefined
  const openMs = isGrowing ? Date.parse(growing.at) : toMs
  const seenMs = Math.max(startMs, asOf.atMs ?? 0, now?.atMs ?? 0)
  const endMs = isGrowing ? Math.max(seenMs, openMs) + 1 : toMs
  if (fromMs % DAY_MS !== 0 || toMs % DAY_MS !== 0) {
    // Only an event in the last bucket tells how much of it has passed.
    return { before: 'from', words: minutesOf(startMs, seenMs < openMs ? toMs : endMs) }
  }
  const [first, last] = [dayOf(startMs), dayOf(endMs - 1)]
  const far = isGrowing ? ' so far' : ''
  if (first.ms === fromMs && first.day === '1') {
    const after = dayOf(toMs)
    const isWhole = after.day === '1'
    if (
      first.month === last.month &&
      first.year === last.year &&
      (isWhole || (isGrowing && first.ms !== last.ms))
    )
      return { before: 'in', words: `${first.month} ${first.year}${far}` }
    if (first.month === 'January' && isWhole && after.month === 'January' && first.year === last.year)
      return { before: 'in', words: `${first.year}${far}` }
    if (isWhole && !isGrowing) return { before: 'from', words: between(first, last, ['month', 'year']) }
  }
  return first.ms === last.ms
    ? { before: 'on', words: `${first.day} ${first.month} ${first.year}${far}` }
    : { before: 'from', words: between(first, last, ['day', 'month', 'year']) }
}

/** Name of a range as an element that names the answer's fields. `address` is that of a linked answer, with `#`. */
export function rangeHtml(range: NamedRange, address = ''): Html {
  const present = range.now?.atMs == null ? [] : ['/now/at']
  const fields = ['/from', '/to', '/launchedAt', '/asOf/at', ...present, '/buckets'].map(
    (field) => `${address}${field}`,
  )
  return html`<span data-expr="range ${fields.join(' ')}">${rangeName(range).words}</span>`
}

type Day = Readonly<Record<'day' | 'month' | 'year', string> & { ms: number }>

function dayOf(ms: number): Day {
  const at = formatAt(msOf(ms))
  const [month = '', year = ''] = monthWords(at.slice(0, 7)).split(' ')
  return { day: String(Number(at.slice(8, 10))), month, year, ms: floorTo(msOf(ms), DAY_MS) }
}

/** Two days or months. The first omits the parts that both end with. */
function between(first: Day, last: Day, parts: readonly ('day' | 'month' | 'year')[]): string {
  let own = parts
  while (own.length > 1 && own.slice(-1).every((part) => first[part] === last[part])) own = own.slice(0, -1)
  const words = (day: Day, some: typeof parts): string => some.map((part) => day[part]).join(' ')
  return `${words(first, own)} to ${words(last, parts)}`
}

/** Both ends to the minute: `27 Nov 02:00 to 28 Nov 2026 03:00 UTC`. */
function minutesOf(startMs: number, endMs: number): string {
  const [start, end] = [floorTo(msOf(startMs), MINUTE_MS), ceilTo(msOf(endMs), MINUTE_MS)]
  return `${dayWords('cell', start, end)} to ${dayWords('date', end)} ${formatAt(end).slice(11, 16)} UTC`
}
