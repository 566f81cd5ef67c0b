import { headlineAmount } from '../markup/amount-html.ts'
import { whoWins } from '../markup/kind-words.ts'
import { monthWords } from '../markup/moment-html.ts'
import { plainText } from '../markup/page-lead.ts'
import { dayWords } from '../markup/time-words.ts'

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
  return dayWords('date', Date.parse(at))
}

/** Month of a moment: `October 2026`. */
export function monthText(at: string): string {
  return monthWords(at.slice(0, 7))
}

/** A moment to the minute, cut: `22 Nov 2026, 11:50 UTC`. */
export function minuteText(at: string): string {
  return `${dayText(at)}, ${at.slice(11, 16)} UTC`
}
