import { formatAt, msOf } from '../../protocol/moment.ts'
import { headlineAmount } from '../markup/amount-html.ts'
import { whoWins } from '../markup/kind-words.ts'
import { monthWords } from '../markup/moment-html.ts'
import { plainText } from '../markup/page-lead.ts'
import { timeWords } from '../markup/time-words.ts'

// Words and figures of link previews, as plain text.

/** An amount as in a headline, cut and never rounded: `5.83 million`, `6,043`, `84.05`. */
export function cutAmount(amount: string): string {
  return plainText(headlineAmount(amount))
}

/** Those who win a kind of prize, within a sentence: `runners-up`. */
export function winnersOf(kind: string): string {
  return whoWins(kind).markup.replaceAll(/<[^>]*>/g, '')
}

/** Day of a moment: `22 Nov 2026`. */
export function dayText(at: string): string {
  return timeWords('date', Date.parse(at), 0)
}

/** Month of a moment: `October 2026`. */
export function monthText(at: string): string {
  return monthWords(at.slice(0, 7))
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
    return monthText(from)
  }
  return from.slice(0, 10) === last.slice(0, 10) ? dayText(from) : `${dayText(from)} to ${dayText(last)}`
}
