import { formatAt, msOf } from '../../protocol/moment.ts'
import { grouped } from '../markup/chart-scale.ts'

// Words and figures of link previews, as plain text.

const AMOUNT = /^(-?)(\d+)\.(\d+)$/
const MILLION_DIGITS = 7
/** Least amount that is shown without decimals. */
const WHOLE_LEAST = 100

/** An amount, cut and never rounded: `5.83 million`, `6,043`, `84.05`, `0`. */
export function cutAmount(amount: string): string {
  const [, sign = '', whole = '', decimals = ''] = AMOUNT.exec(amount) ?? []
  if (whole.length >= MILLION_DIGITS) {
    const millions = whole.slice(0, 1 - MILLION_DIGITS)
    const hundredths = whole.slice(1 - MILLION_DIGITS).slice(0, 2)
    return `${sign}${grouped(millions)}.${hundredths} million`
  }
  if (Number(whole) >= WHOLE_LEAST) return `${sign}${grouped(whole)}`
  if (!/[1-9]/.test(whole + decimals)) return '0'
  // An amount below a hundredth has as many decimals as show its first digit.
  const places = whole === '0' ? Math.max(2, decimals.search(/[1-9]/) + 1) : 2
  return `${sign}${whole}.${decimals.slice(0, places)}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const WHOLE_MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** Day of a moment: `22 Nov 2026`. */
export function dayText(at: string): string {
  return `${Number(at.slice(8, 10))} ${MONTHS[Number(at.slice(5, 7)) - 1]} ${at.slice(0, 4)}`
}

/** A moment to the minute, cut: `22 Nov 2026, 11:50 UTC`. */
export function minuteText(at: string): string {
  return `${dayText(at)}, ${at.slice(11, 16)} UTC`
}

const MIDNIGHT = 'T00:00:00.000Z'

/**
 * A range: `October 2026` for a month or the days so far of an `unfinished` one, else its first and last day, or its
 * moments. `to` is exclusive.
 */
export function rangeText(from: string, to: string, unfinished: boolean): string {
  if (!from.endsWith(MIDNIGHT) || !to.endsWith(MIDNIGHT)) return `${minuteText(from)} to ${minuteText(to)}`
  const last = formatAt(msOf(Date.parse(to) - 1))
  const month = from.slice(0, 7)
  const whole = to.slice(8, 10) === '01' || unfinished
  if (from.slice(8, 10) === '01' && whole && last.slice(0, 7) === month) {
    return `${WHOLE_MONTHS[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`
  }
  return from.slice(0, 10) === last.slice(0, 10) ? dayText(from) : `${dayText(from)} to ${dayText(last)}`
}
