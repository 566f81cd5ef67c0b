import assert from 'node:assert/strict'
import { lengthWords } from './shown-words.ts'

/**
 * Evaluates an expression of a page over its answers, exactly and with the decimals of the figures:
 *
 * - `count /a`: number of elements of a list
 * - `payments /a`, `corrections /a`: number of the types that are `payout` or `correction`
 * - `distinct /a`: number of different values
 * - `beyond-8 /a`: number of elements after the first eight, or another number
 * - `minus /a /b`: difference
 * - `negated /a`: the figure with the other sign
 * - `sum /a /b`: sum of all values
 * - `percent /a /b` and `ratio /a /b`: a divided by b, cut off after one decimal
 * - `share /a /b`: a of b in whole per cent, cut off; `Nothing`, or `Less than 1%`
 * - `seconds /a`: milliseconds as whole seconds, cut off
 * - `span /a /b`: time from a moment to a later one, as `2 days` or `1 h 6 min`
 * - `within /a`: milliseconds as a bound, rounded up to hours, from five days on to days
 * - `waited /a /b`: time from a moment to a later one, cut to hours, from four days on to days
 * - `place /from /to /p90 /max /paid`: the time from a moment to a later one, compared with those of at least ten others
 * - `late /status /available /now /p90 /paid`: word that holds only for a payable prize, available for longer than p90
 * - `all-paid /a /b` and `none-open /a`: words that hold only if all the values are zero
 * - `about /a`: a shortened figure
 * - `range /from /to /launched /newest /now? /buckets`: the part of a range that the log covers, as `October 2026` or `3 to 5 October 2026`
 * - `offset /a`: minutes as `+05:45`
 * - `cut /a`: a figure cut to whole units from 100 on, else to two decimals or to its first two digits
 * - `monthname /a`: a month as `October 2026`
 * - `weekday /a` and `hours /a`: a day from 1 to 7 as `Sundays`, an hour as `19:00 to 20:00`
 * - `day /a`, `clock /a` and `month /a`: a moment as `3 Oct`, `3 Oct 14:00` or `Oct 2026`
 *
 * Pointers are those of RFC 6901. `*` is every element. A pointer after an address and `#` is of another answer that the
 * page links.
 */
export function evaluate(
  expression: string,
  answer: unknown,
  answers: ReadonlyMap<string, unknown> = new Map(),
): string {
  const [operator = '', ...pointers] = expression.split(' ')
  const found = pointers.map((pointer) => {
    const [address = '', inside] = pointer.split('#')
    if (inside === undefined) return valuesAt(answer, pointer)
    assert.ok(answers.has(address), `${address} is linked as JSON`)
    return valuesAt(answers.get(address), inside)
  })
  const [[first] = [], [second] = []] = found
  const [, beyond] = /^beyond-(\d+)$/.exec(operator) ?? []
  if (beyond !== undefined) return String((first as readonly unknown[]).length - Number(beyond))
  switch (operator) {
    case 'count':
      assert.ok(Array.isArray(first))
      return String(first.length)
    case 'payments':
      return String(found.flat().filter((type) => type === 'payout').length)
    case 'corrections':
      return String(found.flat().filter((type) => type === 'correction').length)
    case 'distinct':
      return String(new Set(found.flat()).size)
    case 'minus':
      assert.equal(placesOf(first), placesOf(second), expression)
      return decimal(digitsOf(first) - digitsOf(second), placesOf(first))
    case 'negated':
      return decimal(-digitsOf(first), placesOf(first))
    case 'percent': {
      assert.equal(placesOf(first), placesOf(second), expression)
      const whole = digitsOf(second)
      return whole === 0n ? '' : `${decimal((digitsOf(first) * 1_000n) / whole, 1)}%`
    }
    case 'share': {
      assert.equal(placesOf(first), placesOf(second), expression)
      if (digitsOf(first) === 0n) return 'Nothing'
      const percent = (digitsOf(first) * 100n) / digitsOf(second)
      return percent === 0n ? 'Less than 1%' : `${percent}%`
    }
    case 'seconds':
      return String(digitsOf(first) / 1_000n)
    case 'span':
      return lengthWords(Date.parse(String(second)) - Date.parse(String(first)))
    case 'within': {
      const hours = hoursBound(first)
      if (hours === 1) return 'an hour'
      return hours > 96 ? `${hours / 24} days` : `${hours} hours`
    }
    case 'waited': {
      const hours = Math.floor((Date.parse(String(second)) - Date.parse(String(first))) / 3_600_000)
      if (hours < 2) return hours < 1 ? 'less than an hour' : 'an hour'
      return hours < 96 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
    }
    case 'place': {
      const [, , p90, most, paid] = found.map(([value]) => value)
      const hours = (Date.parse(String(second)) - Date.parse(String(first))) / 3_600_000
      if (Number(paid) < 10) return ''
      if (hours > hoursBound(most)) return 'longer than all'
      return hours > hoursBound(p90) ? 'longer than nine of ten' : 'within the usual time'
    }
    case 'late': {
      const [status, available, now, p90, paid] = found.map(([value]) => value)
      const since = Date.parse(String(now)) - Date.parse(String(available))
      return status === 'payable' && Number(paid) >= 10 && since > Number(p90) ? 'late' : ''
    }
    case 'all-paid':
      return allZero(found.flat()) ? 'All paid' : ''
    case 'none-open':
      return allZero(found.flat()) ? 'Nothing is left to pay' : ''
    case 'ratio':
      assert.equal(placesOf(first), placesOf(second), expression)
      return decimal((digitsOf(first) * 10n) / digitsOf(second), 1)
    case 'about':
      return shortened(String(first))
    case 'cut':
      return cutText(String(first))
    case 'monthname':
      return new Date(String(first)).toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
    case 'weekday':
      return `${new Date(Date.UTC(2026, 0, 4 + Number(first))).toLocaleString('en', { weekday: 'long', timeZone: 'UTC' })}s`
    case 'hours':
      return [Number(first), Number(first) + 1]
        .map((hour) => `${String(hour).padStart(2, '0')}:00`)
        .join(' to ')
    case 'day':
      return momentParts(first).day
    case 'clock':
      return momentParts(first).clock
    case 'month':
      return momentParts(first).month
    case 'range':
      return rangeText(
        found.slice(0, -1).map(([at]) => (typeof at === 'string' ? Date.parse(at) : 0)),
        found.at(-1)?.[0] as Buckets,
      )
    case 'offset': {
      const minutes = Number(first)
      const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)
      return `${minutes < 0 ? '-' : '+'}${clock}`
    }
    case 'sum': {
      const terms = found.flat()
      assert.ok(terms.length > 0, `${expression} adds something`)
      const [places = 0, ...others] = new Set(terms.map(placesOf))
      assert.deepEqual(others, [], `${expression} adds like things`)
      return decimal(
        terms.map(digitsOf).reduce((a, b) => a + b),
        places,
      )
    }
    default:
      throw new Error(`there is no operator ${operator}`)
  }
}

/** Milliseconds rounded up to hours, beyond 96 of them to days. */
function hoursBound(ms: unknown): number {
  const hours = Math.max(1, Math.ceil(Number(ms) / 3_600_000))
  return hours > 96 ? Math.ceil(Number(ms) / 86_400_000) * 24 : hours
}

/** A figure cut off to at most three digits, with the letter of its unit. */
function shortened(figure: string): string {
  const value = digitsOf(figure)
  const one = 10n ** BigInt(placesOf(figure))
  const size = value < 0n ? -value : value
  const units = [
    [10n ** 12n, 'T'],
    [10n ** 9n, 'B'],
    [10n ** 6n, 'M'],
    [1_000n, 'k'],
    [1n, ''],
  ] as const
  const [unit, letter] = units.find(([least]) => size >= least * one) ?? [1n, '']
  const hundredths = (size * 100n) / (unit * one)
  const step = hundredths < 100n ? 1n : hundredths < 1_000n ? 10n : 100n
  const shown = (hundredths / step) * step
  if (shown === 0n && size > 0n) return value < 0n ? '<0' : '>0'
  const whole = (shown / 100n).toLocaleString('en')
  const decimals = String(shown % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}${letter}`
}

/** A figure cut to whole units with commas from 100 on, else to two decimals, or to its first two digits. */
function cutText(figure: string): string {
  const sign = figure.startsWith('-') ? '-' : ''
  const [whole = '', decimals = ''] = figure.replace('-', '').split('.')
  const shown = `${sign}${Number(whole).toLocaleString('en')}`
  if (Number(figure) === 0 || Number(whole) >= 100 || decimals === '') return shown
  const first = Number(whole) > 0 ? 0 : decimals.search(/[1-9]/)
  return `${shown}.${decimals.slice(0, Math.max(2, first + 2))}`
}

function momentParts(moment: unknown): Readonly<Record<'day' | 'clock' | 'month', string>> {
  const date = new Date(String(moment))
  const part = (options: Intl.DateTimeFormatOptions): string =>
    date.toLocaleString('en', { timeZone: 'UTC', ...options })
  const day = `${part({ day: 'numeric' })} ${part({ month: 'short' })}`
  const clock = `${day} ${String(moment).slice(11, 16)}`
  return { day, clock, month: `${part({ month: 'short' })} ${part({ year: 'numeric' })}` }
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

type Buckets = readonly Readonly<{ at: string; complete: boolean }>[]

/** The words of a range from its ends, the first moment of the log, its newest one, and the present. */
function rangeText(
  [from = 0, to = 0, launched = 0, newest = 0, now = 0]: readonly number[],
  buckets: Buckets,
): string {
  const start = launched > from && launched < to ? launched : from
  const open = buckets.filter(({ complete }) => !complete).at(-1)
  const isOpen = open !== undefined
  const end = isOpen ? Math.max(newest, now, start, Date.parse(open.at)) + 1 : to
  const written = (ms: number, options: Intl.DateTimeFormatOptions): string =>
    new Date(ms).toLocaleString('en-GB', { timeZone: 'UTC', ...options })
  if (from % DAY_MS > 0 || to % DAY_MS > 0) {
    const isSeen = open !== undefined && Math.max(newest, now, start) >= Date.parse(open.at)
    const [first, last] = [start, Math.ceil((isSeen ? end : to) / MINUTE_MS) * MINUTE_MS]
    const year = written(first, { year: 'numeric' }) === written(last, { year: 'numeric' }) ? '' : 'numeric'
    const short = (ms: number, isYear: boolean): string => {
      const [day, month] = [new Date(ms).getUTCDate(), momentParts(new Date(ms).toISOString()).month]
      const clock = new Date(ms).toISOString().slice(11, 16)
      return `${day} ${isYear ? month : month.split(' ')[0]} ${clock}`
    }
    return `${short(first, year !== '')} to ${short(last, true)} UTC`
  }
  const day = (ms: number): string => written(ms, { day: 'numeric', month: 'long', year: 'numeric' })
  const [first, last] = [day(start), day(end - 1)].map((text) => text.split(' '))
  const isFull = day(start) === day(from) && day(from).startsWith('1 ') && day(to).startsWith('1 ')
  const isMonth =
    day(start) === day(from) &&
    day(from).startsWith('1 ') &&
    (isFull || (isOpen && day(start) !== day(end - 1)))
  const far = isOpen ? ' so far' : ''
  if (first?.slice(1).join() === last?.slice(1).join() && isMonth) return `${first?.slice(1).join(' ')}${far}`
  if (isFull && first?.[1] === 'January' && day(to).includes('January') && first[2] === last?.[2])
    return `${first[2]}${far}`
  const shown = isFull && !isOpen ? [first?.slice(1), last?.slice(1)] : [first, last]
  const [begin = [], stop = []] = shown
  if (begin.join() === stop.join()) return `${begin.join(' ')}${far}`
  const shared = begin.at(-1) !== stop.at(-1) ? 0 : begin.length === 3 && begin[1] === stop[1] ? 2 : 1
  return `${begin.slice(0, begin.length - shared).join(' ')} to ${stop.join(' ')}`
}

/** Values at a pointer: one, or with `*` any number. */
export function valuesAt(answer: unknown, pointer: string): readonly unknown[] {
  return pointer
    .split('/')
    .slice(1)
    .reduce<readonly unknown[]>(
      (here, key) => {
        if (key === '*') return here.flatMap((one) => Object.values(one as object))
        return here.map(
          (one) => (one as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
        )
      },
      [answer],
    )
}

function allZero(values: readonly unknown[]): boolean {
  assert.ok(values.length > 0, 'there is something to be paid')
  return values.every((value) => digitsOf(value) === 0n)
}

function digitsOf(value: unknown): bigint {
  return BigInt(String(value).replace('.', ''))
}

function placesOf(value: unknown): number {
  return String(value).split('.')[1]?.length ?? 0
}

function decimal(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const point = digits.length - places
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${places === 0 ? '' : `.${digits.slice(point)}`}`
}
