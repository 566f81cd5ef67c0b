import type { ArchiveIndex, ArchiveMonth } from '../../../protocol/endpoints/file-endpoints.ts'
import { barChart, type Bars } from '../../charts/chart-bars.ts'
import { barPicture } from '../../charts/chart-picture.ts'
import { monthMark } from '../../charts/chart-time.ts'
import { type Derived, sumOfAll } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { monthHtml } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Chart of the events of each month; null for less than two months. */
export function monthChart(months: readonly ArchiveMonth[]): Html | null {
  const events = eventsTotal(months)
  if (events === null || months.length < 2) return null
  const most = months.reduce((greatest, one) => (one.events > greatest.events ? one : greatest))
  const growing = months.some(({ state }) => state === 'open')
  const sentence = html`The most events came in
    <span data-at="/months/${months.indexOf(most)}/month">${monthHtml(most.month)}</span
    >.${growing ? ' Pale: not over yet.' : null}`
  const described = `The most, ${most.events}, came in ${most.month}. The table below has the same counts.`
  return barChart(barsOf(months, described), sentence)
}

/** The chart as a picture, for any number of months. */
export function monthPicture({ months }: ArchiveIndex, view: View): Html {
  const described = months.map(({ month, events }) => `${month}: ${events}.`).join(' ')
  const bars = barsOf(months, described === '' ? 'There is no month yet.' : described)
  const [first, last] = [months.at(0)?.month, months.at(-1)?.month]
  const range = first === undefined ? 'no month yet' : first === last ? first : `${first} to ${last}`
  const growing = months.some(({ state }) => state === 'open') ? '; pale: not over yet' : ''
  return barPicture(bars, { title: bars.title, asOf: null, range: `${range}${growing}` }, view)
}

function barsOf(months: readonly ArchiveMonth[], description: string): Bars {
  return {
    id: 'months',
    title: 'Events of each month',
    description,
    bars: months.map((one) => ({
      label: monthMark(one.month),
      figure: String(one.events),
      unfinished: one.state === 'open',
    })),
  }
}

/** Total of the events of all months. */
export function eventsTotal(months: readonly ArchiveMonth[]): Derived | null {
  return sumOfAll(
    '/months/*/events',
    months.map((one) => one.events),
  )
}
