import type { Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Waits } from '../../../protocol/endpoints/figure-endpoints.ts'
import { askEndpoint } from '../../frame/linked-answers.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { expressed } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { dayOf } from '../../markup/moment-html.ts'
import { timeBound, waitedWords, withinWords } from '../../markup/time-words.ts'

/** The default answer of `/waits`, with which pages compare a contest or a prize. */
export type UsualWaits = LinkedAnswer<Waits>

export function askWaits(view: Pick<View, 'ask'>): Promise<UsualWaits> {
  return askEndpoint(view, 'waits')
}

/** Time within which contests were paid, rounded up to hours or days. */
export function within(pointer: string, ms: number): Html {
  return expressed(`within ${pointer}`, withinWords(ms))
}

/** Paragraph about the waits of paid contests, with `more` after its sentence. Null when none is paid. */
export function usualWaits(waits: UsualWaits, more: Html | null = null): Html | null {
  const sentence = waitsSentence(waits)
  return sentence === null ? null : html`<p>${sentence} ${more} <a href="/waits">How long it takes</a></p>`
}

/** Sentence about the contests of the last 90 days: how many were paid, and how soon. Null when none is paid. */
function waitsSentence({ answer: { contests, all, from }, address }: UsualWaits): Html | null {
  const { p50Ms, paid } = all
  if (p50Ms === null) return null
  const at = (pointer: string, shown: Html): Html =>
    html`<span data-at="${address}#${pointer}">${shown}</span>`
  const soon = within(`${address}#/all/p50Ms`, p50Ms)
  const since = html`that closed since ${at('/from', dayOf(from))}`
  if (contests.closed === 1) return html`The only contest ${since} was paid in full within ${soon}.`
  const rest =
    paid === 1 ? html`was paid in full, within ${soon}` : html`were paid in full, half of them within ${soon}`
  return html`Of the ${at('/contests/closed', countHtml(contests.closed))} contests ${since},
  ${at('/all/paid', countHtml(paid))} ${rest}.`
}

/** Paid contests from which on nine of ten of them are a measure. */
const MEASURE_MIN = 10

/**
 * Time that a contest has waited since its close, cut to hours or days, and how it compares with those that were paid:
 * `10 days, longer than all 106 (7 days at most)`. `pointer` leads to the close. Few paid contests are no measure.
 */
export function waited(pointer: string, closedAtMs: number, { answer, address }: UsualWaits): Html {
  const { p90Ms, maxMs, paid } = answer.all
  const ms = (answer.now?.atMs ?? answer.toMs) - closedAtMs
  const time = expressed(`waited ${pointer} ${address}#/now/at`, waitedWords(ms))
  if (p90Ms === null || maxMs === null || paid < MEASURE_MIN) return time
  const place = (words: string): Html => {
    const terms = ['now/at', 'all/p90Ms', 'all/maxMs', 'all/paid'].map((field) => `${address}#/${field}`)
    return expressed(`place ${pointer} ${terms.join(' ')}`, words)
  }
  const nine = within(`${address}#/all/p90Ms`, p90Ms)
  // The bounds as they are shown, so that nobody reads "6 days, longer than 7 days".
  if (ms > timeBound(maxMs)) {
    const all = html`<span data-at="${address}#/all/paid">${countHtml(paid)}</span>`
    return html`${time}, ${place('longer than all')} ${all} (${within(`${address}#/all/maxMs`, maxMs)} at
    most)`
  }
  return ms > timeBound(p90Ms)
    ? html`${time}, ${place('longer than nine of ten')} (${nine} at most)`
    : html`${time}, ${place('within the usual time')} (nine of ten in ${nine})`
}

/** Time after the close within which nine of ten contests paid a kind of prize, after a comma; null without a measure. */
export function usualWithin(kind: string, { answer, address }: UsualWaits): Html | null {
  const index = answer.kinds.findIndex((one) => one.kind === kind)
  const { p90Ms = null, paid = 0 } = answer.kinds[index] ?? {}
  if (p90Ms === null || paid < MEASURE_MIN) return null
  return html`, usually within ${within(`${address}#/kinds/${index}/p90Ms`, p90Ms)} of the close`
}

/**
 * Whether a prize is late: it has been payable for longer than nine of ten paid contests needed from their close. A
 * prize that is locked, in review or to be claimed is never late.
 */
function isLate(
  { status, availableAtMs }: Pick<Unpaid, 'status' | 'availableAtMs'>,
  { answer: { now, all } }: UsualWaits,
): boolean {
  if (status !== 'payable' || now === null || all.p90Ms === null || all.paid < MEASURE_MIN) return false
  return now.atMs - availableAtMs > all.p90Ms
}

/** The word "late" for a prize at this pointer; null when it is not late, or without a measure. */
export function lateWord(pointer: string, prize: Unpaid, waits: UsualWaits | null): Html | null {
  if (waits === null || !isLate(prize, waits)) return null
  const { address } = waits
  const terms = ['now/at', 'all/p90Ms', 'all/paid'].map((field) => `${address}#/${field}`).join(' ')
  return html`<b>${expressed(`late ${pointer}/status ${pointer}/availableAt ${terms}`, 'late')}</b>`
}

/** Explanation of the word "late" below prizes; null when none of them is late. */
export function lateNote(prizes: readonly Unpaid[], waits: UsualWaits | null): Html | null {
  if (waits === null || !prizes.some((one) => isLate(one, waits))) return null
  const { address, answer } = waits
  return html`<p class="quiet">
    Late means that it could be paid for more than ${within(`${address}#/all/p90Ms`, answer.all.p90Ms ?? 0)},
    in which nine of ten contests were paid.
  </p>`
}
