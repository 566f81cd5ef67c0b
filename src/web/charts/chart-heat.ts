import { derived, sumOfAll } from '../markup/derived.ts'
import { digitsOf, grouped } from '../markup/chart-scale.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
export const HOURS: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour)

/** A figure for each hour of the week, with its sums and its JSON pointer. */
export type Heat = Readonly<{
  id: string
  name: string
  /** End of the pointer, after `/cells/0/`, `/byDay/0/` and `/byHour/0/`. */
  pointer: string
  /** The 168 hours from Monday 00:00. */
  cells: readonly string[]
  byDay: readonly string[]
  byHour: readonly string[]
}>

/** Number of colours above none. */
const STEPS = 4

/** Colour of each figure: 0 for zero or less, otherwise its quarter of the greatest figure, from 1 to 4. */
export function heatSteps(figures: readonly string[]): readonly number[] {
  const digits = figures.map(digitsOf)
  const most = digits.reduce((greatest, one) => (one > greatest ? one : greatest), 0n)
  return digits.map((one) => (one <= 0n ? 0 : Number((one * BigInt(STEPS) + most - 1n) / most)))
}

/** Table of days and hours with shades for the figures. Figures are truncated, with "≈" when digits are cut off. */
export function heatTable({ name, pointer, cells, byDay, byHour }: Heat): Html {
  const steps = heatSteps(cells)
  const total = sumOfAll(`/byDay/*/${pointer}`, byDay)
  return html`<div class="wide" role="region" aria-label="${name} by hour of the week" tabindex="0">
    <table class="heat">
      <caption>
        ${total === null ? null : html`${derived(total)} in all`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Hour</th>
          ${HOURS.map((hour) => html`<th scope="col" class="r" data-at="/byHour/${hour}/hour">${hour}</th>`)}
          <th scope="col" class="r">All</th>
        </tr>
      </thead>
      <tbody>
        ${DAYS.map(
          (day, row) =>
            html`<tr>
              <th scope="row">${day}</th>
              ${HOURS.map((hour) => {
                const index = row * HOURS.length + hour
                return cut(`h${steps[index] ?? 0}`, `/cells/${index}/${pointer}`, cells[index])
              })}
              ${cut('sum', `/byDay/${row}/${pointer}`, byDay[row])}
            </tr>`,
        )}
        <tr>
          <th scope="row">All</th>
          ${HOURS.map((hour) => cut('sum', `/byHour/${hour}/${pointer}`, byHour[hour]))}
          <td></td>
        </tr>
      </tbody>
    </table>
  </div>`
}

function cut(kind: string, pointer: string, figure = '0'): Html {
  return html`<td class="${kind}" data-expr="about ${pointer}">${about(figure)}</td>`
}

const SIZES: readonly (readonly [zeros: number, letter: string])[] = [
  [12, 'T'],
  [9, 'B'],
  [6, 'M'],
  [3, 'k'],
]

/**
 * Formats a figure in few characters: with k, M, B or T from a thousand on, one decimal below ten, two below one.
 * Further digits are cut off, never rounded, and "≈" marks that.
 */
export function about(figure: string): string {
  const sign = figure.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = figure.replace('-', '').split('.')
  const [zeros, letter] = SIZES.find(([least]) => whole.length > least) ?? [0, '']
  const kept = whole.slice(0, whole.length - zeros)
  const rest = whole.slice(whole.length - zeros) + fraction
  const places = kept === '0' ? 2 : kept.length === 1 ? 1 : 0
  const decimals = rest.slice(0, places).replace(/0+$/, '')
  const exact = /^0*$/.test(rest.slice(places))
  return `${exact ? '' : '≈'}${sign}${grouped(kept)}${decimals === '' ? '' : `.${decimals}`}${letter}`
}
