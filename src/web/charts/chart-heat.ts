import { derived, sumOfAll } from '../markup/derived.ts'
import { digitsOf, grouped } from '../markup/chart-scale.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
export const HOURS: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour)

/** A figure of each hour of the week, with its sums, and the way to it in each part of the answer. */
export type Heat = Readonly<{
  id: string
  name: string
  /** What stands after `/cells/0/`, `/byDay/0/` and `/byHour/0/`. */
  pointer: string
  /** 168 of them, Monday's first. */
  cells: readonly string[]
  byDay: readonly string[]
  byHour: readonly string[]
}>

/** The steps of colour, from none to the most. */
const STEPS = 4

/**
 * The step of each figure: 0 where there is nothing or less, otherwise the quarter of the greatest one in which it is.
 */
export function heatSteps(figures: readonly string[]): readonly number[] {
  const digits = figures.map(digitsOf)
  const most = digits.reduce((greatest, one) => (one > greatest ? one : greatest), 0n)
  return digits.map((one) => (one <= 0n ? 0 : Number((one * BigInt(STEPS) + most - 1n) / most)))
}

/** A table of days and hours, the darker the more; each figure cut short, with "≈" where something is cut off. */
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
 * A figure in few characters: from a thousand on in thousands, below ten with one decimal, below one with two; what is
 * more is cut off, never rounded, and "≈" says so.
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
