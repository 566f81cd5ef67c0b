import type { PatternFigures, Patterns } from '../../../protocol/endpoints/figure-endpoints.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { sectionHead } from '../../markup/book.ts'
import {
  about,
  busiestHour,
  DAYS,
  type Heat,
  heatPlot,
  heatSteps,
  heatTable,
  HOURS,
} from '../../charts/chart-heat.ts'
import { framed } from '../../charts/chart-picture.ts'
import { type Html, html } from '../../markup/html.ts'
import { monthLinks } from './month-links.ts'
import { dateFields, dateFold } from './range-controls.ts'
import { momentText, rangeEnd } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'
import { expressed } from '../../markup/derived.ts'
import { TZ_MINUTES_MAX } from '../../../protocol/parameters.ts'

type Measure = 'spentOnPlay' | 'paidInPrizes' | 'burned' | 'plays'

const MEASURES: readonly (readonly [measure: Measure, name: string])[] = [
  ['spentOnPlay', 'Spent on play'],
  ['paidInPrizes', 'Paid in prizes'],
  ['burned', 'Burned'],
  ['plays', 'Plays'],
]
/** Kinds of play on the page. The CSV has all of them. */
const KINDS_MAX = 8

/** `/patterns`: figures by weekday and hour. */
export const patternsPage: EndpointPage<'patterns'> = {
  endpoint: 'patterns',
  island: 'patterns',
  permalink: ({ from, to, tz }) => `/patterns?from=${from}&to=${to}&tz=${tz}`,
  title: (patterns, view) => `Hours of the week${monthLinks(view, patterns).titled}`,
  description: (patterns, view) => plainText(headlineOf(patterns, view)),
  csv: (answer) => answerTable('patterns', answer),
  svg: pictureOf,
  heading: (patterns, view) => html`<h1>${headlineOf(patterns, view)}</h1>`,
  render(patterns, view) {
    const [spent, ...others] = heatsOf(patterns, view)
    return html`${leadOf(patterns, spent, view)} ${controlsOf(patterns, view)}
      <section>
        ${sectionHead('Spent on play', html`<span>in ${view.site.token} (k = thousand)</span>`)}
        ${spent === undefined ? null : heatTable(spent)}
        <p class="source shades">
          A stronger colour means more: four steps, each a quarter of the largest cell.
        </p>
      </section>
      <section>
        ${sectionHead('Other figures by hour')}
        <div class="panels">${others.map(panelOf)}</div>
        ${moreKinds(patterns)}
      </section>
      ${dayTable(patterns, view)}`
  },
}

/** Heat maps in the page's order: one for each measure, then one for each kind of play. */
function heatsOf(patterns: Patterns, { site }: View): readonly Heat[] {
  const heat = (
    id: string,
    name: string,
    pointer: string,
    figure: (figures: PatternFigures) => string | number | undefined,
  ): Heat => {
    const all = (parts: readonly PatternFigures[]): readonly string[] =>
      parts.map((part) => String(figure(part) ?? '0'))
    return { id, name, pointer, cells: all(patterns.cells), byDay: all(patterns.byDay) }
  }
  return [
    ...MEASURES.map(([measure, name]) =>
      heat(
        measure,
        measure === 'plays' ? name : `${name}, ${site.token}`,
        measure,
        (figures) => figures[measure],
      ),
    ),
    ...kindsOf(patterns)
      .slice(0, KINDS_MAX)
      .map((kind) =>
        heat(
          `kind-${kind}`,
          `Spent on ${kind}, ${site.token}`,
          `byKind/${kind}`,
          ({ byKind }) => byKind[kind],
        ),
      ),
  ]
}

function kindsOf({ byDay }: Patterns): readonly string[] {
  return Object.keys(byDay[0]?.byKind ?? {})
}

function moreKinds(patterns: Patterns): Html | null {
  const more = kindsOf(patterns).slice(KINDS_MAX)
  return more.length === 0 ? null : html`<p>Further kinds of play are in the CSV: ${more.join(', ')}.</p>`
}

/** Small picture of a measure, and its greatest hour in words. */
function panelOf(heat: Heat): Html {
  const busiest = busiestHour(heat)
  return html`<figure class="chart" id="${heat.id}">
    <figcaption class="head">
      <b>${heat.name}</b> <span>${busiest === null ? 'None' : html`Most on ${busiest.words}`}</span>
    </figcaption>
    ${heatPlot(heat)}
  </figure>`
}

/** Months, offset from UTC and dates, in one row. */
function controlsOf(patterns: Patterns, view: View): Html {
  const { path, query } = view
  const { tabs, names, pager } = monthLinks(view, patterns)
  return html`<div class="controls" data-chrome>
      ${tabs}
      <form method="get" action="${path}">
        <label>Hours of ${offsetSelect(patterns.tz)}</label>
        <button>Show</button>
        ${dateFold('Other dates', names, html`${dateFields(query)} <a href="${path}">The default range</a>`)}
      </form>
    </div>
    ${pager}`
}

/** Hour of the week with the most spending, in the range or in a month by its name. */
function headlineOf(patterns: Patterns, view: View): Html {
  const [spent] = heatsOf(patterns, view)
  const busiest = spent === undefined ? null : busiestHour(spent)
  const { shown, growing } = monthLinks(view, patterns)
  if (shown === null) {
    return busiest === null
      ? html`Nothing was spent on play in this range.`
      : html`Players spend most on ${busiest.words}.`
  }
  const inMonth = html`In ${expressed('monthname /from', shown)}${growing ? ' so far' : null}`
  return busiest === null
    ? html`${inMonth} nothing was spent on play.`
    : html`${inMonth} players spent most on ${busiest.words}.`
}

/** Amount spent in that hour, and the range and time zone of the figures. */
function leadOf(patterns: Patterns, spent: Heat | undefined, view: View): Html {
  const { from, to, tz } = patterns
  const busiest = spent === undefined ? null : busiestHour(spent)
  const most =
    spent === undefined || busiest === null
      ? null
      : html`<span data-at="/cells/${busiest.index}/${spent.pointer}"
            >${amountHtml(spent.cells[busiest.index] ?? '0')}</span
          >
          ${view.site.token} in that hour of the week. `
  return html`<p class="lead">
    ${most}From <span data-at="/from">${rangeEnd(from)}</span> up to
    <span data-at="/to">${rangeEnd(to)}</span>, UTC. Hours are in
    UTC${expressed('offset /tz', offsetText(tz))} all year. Trades of the token are not counted.
  </p>`
}

/** Sums of each weekday, with all decimals on request. */
function dayTable({ byDay }: Patterns, { site, path, query }: View): Html {
  return html`<section>
    ${sectionHead('By weekday', html`<span>${site.token}, and plays</span>`)}
    <div class="wide" role="region" aria-label="Sums of each weekday" tabindex="0">
      <table class="cards pairs" data-list="/byDay">
        <thead>
          <tr>
            <th scope="col">Day</th>
            ${MEASURES.map(([measure, name]) => html`<th scope="col" class="r" data-field="${measure}">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${byDay.map(
            (sums, row) =>
              html`<tr>
                <th scope="row" class="all">${DAYS[row] ?? ''}</th>
                ${MEASURES.map(
                  ([measure, name]) =>
                    html`<td class="r" data-label="${name}">${amountHtml(String(sums[measure]))}</td>`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="source" data-chrome>
      <a href="${path}.csv${query.format()}">The CSV has every hour of the week</a>, with all decimals.
    </p>
  </section>`
}

const CELL = { left: 76, top: 104, width: 33, height: 30 } as const

/** Heat map of spending by hour of the week, as a picture. */
function pictureOf(patterns: Patterns, view: View): Html {
  const { cells, from, to, asOf, tz } = patterns
  const figures = cells.map(({ spentOnPlay }) => spentOnPlay)
  const steps = heatSteps(figures)
  const x = (hour: number): number => CELL.left + hour * CELL.width
  const y = (row: number): number => CELL.top + row * CELL.height
  const body = html`${HOURS.map(
      (hour) => html`<text class="x" x="${x(hour) + CELL.width / 2}" y="${CELL.top - 8}">${hour}</text>`,
    )}
    ${DAYS.map((day, row) => html`<text text-anchor="end" x="${CELL.left - 10}" y="${y(row) + 20}">${day}</text>`)}
    ${figures.map((figure, index) => {
      const [hour, row] = [index % HOURS.length, Math.floor(index / HOURS.length)]
      const step = steps[index] ?? 0
      return html`<rect
          class="h${step}"
          x="${x(hour)}"
          y="${y(row)}"
          width="${CELL.width - 1}"
          height="${CELL.height - 1}"
        />
        <text class="x i${step}" x="${x(hour) + CELL.width / 2}" y="${y(row) + 19}">${about(figure)}</text>`
    })}
    <text x="${CELL.left}" y="${y(DAYS.length) + 20}">
      ${view.site.token} spent on play in each hour, UTC${offsetText(tz)}; digits are cut off. A shade for
      each quarter of the largest cell.
    </text>`
  return framed(
    {
      title: 'Spent on play by hour of the week',
      asOf,
      range: `${momentText(from)} to ${momentText(to)}`,
    },
    {
      body,
      height: y(DAYS.length) + 32,
      description: DAYS.map((day, row) => `${day}: ${patterns.byDay[row]?.spentOnPlay ?? ''}.`).join(' '),
    },
    view,
  )
}

const HOUR = 60

/** Offsets from UTC in use that are not whole hours, in minutes. */
const PARTS: readonly number[] = [
  [-9, 30],
  [-3, 30],
  [-2, 30],
  [3, 30],
  [4, 30],
  [5, 30],
  [5, 45],
  [6, 30],
  [8, 45],
  [9, 30],
  [10, 30],
  [12, 45],
  [13, 45],
].map(([hours = 0, minutes = 0]) => hours * HOUR + Math.sign(hours) * minutes)

const WHOLES: readonly number[] = Array.from(
  { length: (2 * TZ_MINUTES_MAX) / HOUR + 1 },
  (_, index) => index * HOUR - TZ_MINUTES_MAX,
)

/** Offset in minutes as text: `+05:45` for 345. */
export function offsetText(minutes: number): string {
  const size = Math.abs(minutes)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / HOUR))}:${two(size % HOUR)}`
}

/** Select element of offsets from UTC. It includes the chosen one, even if no time zone uses it. */
export function offsetSelect(chosen: number): Html {
  const offsets = [...new Set([...WHOLES, ...PARTS, chosen])].toSorted((a, b) => a - b)
  return html`<select name="tz">
    ${offsets.map((offset) =>
      offset === chosen
        ? html`<option value="${offset}" selected>UTC${offsetText(offset)}</option>`
        : html`<option value="${offset}">UTC${offsetText(offset)}</option>`,
    )}
  </select>`
}
