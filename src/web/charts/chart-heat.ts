import { digitsOf, greatestIndex, grouped } from '../markup/chart-scale.ts'
import { type Html, html } from '../markup/html.ts'
import { expressed } from '../markup/derived.ts'

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
export const HOURS: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour)
const LONG_DAYS = [
  'Mondays',
  'Tuesdays',
  'Wednesdays',
  'Thursdays',
  'Fridays',
  'Saturdays',
  'Sundays',
] as const

/** A figure for each hour of the week, and its sums by day. */
export type Heat = Readonly<{
  id: string
  name: string
  /** End of the pointer, after `/cells/0/` and `/byDay/0/`. */
  pointer: string
  /** The 168 hours from Monday 00:00. */
  cells: readonly string[]
  byDay: readonly string[]
}>

/** Number of colours above none. */
const STEPS = 4

/** Shade of each figure: 0 for zero or less, otherwise 1 to 4 by quarters of the greatest figure. */
export function heatSteps(figures: readonly string[]): readonly number[] {
  const digits = figures.map(digitsOf)
  const most = digits.reduce((greatest, one) => (one > greatest ? one : greatest), 0n)
  return digits.map((one) => (one <= 0n ? 0 : Number((one * BigInt(STEPS) + most - 1n) / most)))
}

/** Hour of the week with the greatest figure, such as `Sundays from 19:00 to 20:00`; null if none is above zero. */
export function busiestHour(heat: Heat): Readonly<{ words: Html; index: number }> | null {
  const index = greatestIndex(heat.cells)
  if (index === null) return null
  const day = LONG_DAYS[Math.floor(index / HOURS.length)] ?? ''
  const hour = index % HOURS.length
  const clock = (at: number): string => `${String(at).padStart(2, '0')}:00`
  const words = html`${expressed(`weekday /cells/${index}/day`, day)} from
  ${expressed(`hours /cells/${index}/hour`, `${clock(hour)} to ${clock(hour + 1)}`)}`
  return { words, index }
}

/** Table of days and hours, with shades and shortened figures. A phone shows a card for each day. */
export function heatTable({ name, pointer, cells }: Heat): Html {
  const steps = heatSteps(cells)
  return html`<div class="wide" role="region" aria-label="${name} by hour of the week" tabindex="0">
    <table class="heat">
      <thead>
        <tr>
          <th scope="col">Hour</th>
          ${HOURS.map((hour) => html`<th scope="col" class="r" data-at="/byHour/${hour}/hour">${hour}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${DAYS.map(
          (day, row) =>
            html`<tr>
              <th scope="row">${day}</th>
              ${HOURS.map((hour) => {
                const index = row * HOURS.length + hour
                return html`<td class="h${steps[index] ?? 0}" data-expr="about /cells/${index}/${pointer}">
                  ${about(cells[index] ?? '0')}
                </td>`
              })}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Height of a small picture of the week, and of one of its days, in pixels. */
const WEEK_HEIGHT = 126
const DAY_HEIGHT = WEEK_HEIGHT / DAYS.length
/** Days and hours that a small picture names. */
const DAYS_NAMED = new Set([0, 2, 4, 6])
const HOURS_NAMED = [0, 6, 12, 18]

/** Small picture of the hours of the week, in the same shades without figures. Each shade is one path. */
export function heatPlot({ id, name, cells, byDay }: Heat): Html {
  const steps = heatSteps(cells)
  const described = DAYS.map((day, row) => `${day}: ${byDay[row] ?? ''}.`).join(' ')
  return html`<svg
    class="plot inset"
    height="${WEEK_HEIGHT + 24}"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
    data-cells="${cells.map(about).join(' ')}"
  >
    <title id="${id}-title">${name} by hour of the week</title>
    <desc id="${id}-desc">${described}</desc>
    <svg
      viewBox="0 0 ${HOURS.length} ${DAYS.length}"
      preserveAspectRatio="none"
      width="100%"
      height="${WEEK_HEIGHT}"
    >
      ${[0, 1, 2, 3, 4].map((step) => shadePath(steps, step))}
    </svg>
    ${DAYS.map((day, row) =>
      DAYS_NAMED.has(row)
        ? html`<text x="-8" y="${row * DAY_HEIGHT + 14}" text-anchor="end">${day}</text>`
        : null,
    )}
    ${HOURS_NAMED.map(
      (hour) =>
        html`<text data-axis="" x="${((hour / HOURS.length) * 100).toFixed(0)}%" y="${WEEK_HEIGHT + 17}"
          >${String(hour).padStart(2, '0')}:00</text
        >`,
    )}
  </svg>`
}

/** Path of the cells of a shade; null if there are none. Neighbouring cells are one rectangle. */
function shadePath(steps: readonly number[], step: number): Html | null {
  let d = ''
  for (let index = 0; index < steps.length; index++) {
    if (steps[index] !== step) continue
    const [hour, day] = [index % HOURS.length, Math.floor(index / HOURS.length)]
    let width = 1
    while (hour + width < HOURS.length && steps[index + width] === step) width += 1
    d += `M${hour},${day}h${width}v.94h-${width}z`
    index += width - 1
  }
  return d === '' ? null : html`<path class="h${step}" d="${d}" />`
}

const SIZES: readonly (readonly [zeros: number, letter: string])[] = [
  [12, 'T'],
  [9, 'B'],
  [6, 'M'],
  [3, 'k'],
]

/**
 * Formats a figure in few characters: with k, M, B or T from a thousand on, one decimal below ten, two below one. Cuts
 * further digits off and never rounds. A figure with no digit left is `>0` or `<0`.
 */
export function about(figure: string): string {
  const sign = figure.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = figure.replace('-', '').split('.')
  const [zeros, letter] = SIZES.find(([least]) => whole.length > least) ?? [0, '']
  const kept = whole.slice(0, whole.length - zeros)
  const rest = whole.slice(whole.length - zeros) + fraction
  const places = kept === '0' ? 2 : kept.length === 1 ? 1 : 0
  const decimals = rest.slice(0, places).replace(/0+$/, '')
  if (kept === '0' && decimals === '' && /[1-9]/.test(rest)) return sign === '' ? '>0' : '<0'
  return `${sign}${grouped(kept)}${decimals === '' ? '' : `.${decimals}`}${letter}`
}
