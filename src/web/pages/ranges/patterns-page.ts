import type { PatternFigures, Patterns } from '../../../protocol/range-resources.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import type { Heat } from '../../charts/chart-heat.ts'
import { about, DAYS, heatSteps, heatTable, HOURS } from '../../charts/chart-heat.ts'
import { framed, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf, momentText } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { expressed } from '../../charts/share.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import { offsetSelect, offsetText } from '../../markup/time-offset.ts'

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
  title: () => 'Patterns of the week',
  description: (patterns, view) => plainText(sentenceOf(patterns, view)),
  csv: ANSWER_TABLES.patterns,
  svg: pictureOf,
  render(patterns, view) {
    const heats = heatsOf(patterns, view)
    return html`${rangeForm(patterns, view)}
      <p>${sentenceOf(patterns, view)}</p>
      <p class="quiet" data-at="/from /to">
        From ${momentOf(patterns.from)} up to, not including, ${momentOf(patterns.to)}. Hours are those of
        UTC${expressed('offset /tz', offsetText(patterns.tz))}, a fixed offset: it does not follow daylight
        saving. Trades of the token are not counted.
      </p>
      ${measureLinks(heats)}
      <p class="quiet shades">
        The stronger the colour of a cell, the more: a step for each quarter of the greatest cell.
      </p>
      <p class="quiet">
        "≈" stands where decimals or lower digits are cut off; the CSV has every figure in full.
      </p>
      ${heats.map(
        (heat) =>
          html`<section id="${heat.id}" data-measure="${heat.name}">
            <h2>${heat.name}</h2>
            ${heatTable(heat)}
          </section>`,
      )}
      ${moreKinds(patterns)}`
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
    return {
      id,
      name,
      pointer,
      cells: all(patterns.cells),
      byDay: all(patterns.byDay),
      byHour: all(patterns.byHour),
    }
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

/** Links to the heat maps. A script replaces them with a select element. */
function measureLinks(heats: readonly Heat[]): Html {
  return html`<nav aria-label="Measures" data-measures data-chrome>
    <ul class="tabs">
      ${heats.map(({ id, name }) => html`<li><a href="#${id}">${name}</a></li>`)}
    </ul>
  </nav>`
}

function rangeForm({ from, to, tz }: Patterns, { path }: View): Html {
  return html`<form class="ask" method="get" action="${path}" data-chrome>
    <label>From, UTC <input type="datetime-local" name="from" value="${from.slice(0, 16)}" /></label>
    <label>To, UTC <input type="datetime-local" name="to" value="${to.slice(0, 16)}" /></label>
    <label>Hours of ${offsetSelect(tz)}</label>
    <button>Show</button>
    <a href="${path}">The default range</a>
  </form>`
}

/** Hour of the week in which most was spent, in words. */
function sentenceOf({ cells }: Patterns, { site }: View): Html {
  let most = cells[0]
  for (const cell of cells) {
    if (most === undefined || digitsOf(cell.spentOnPlay) > digitsOf(most.spentOnPlay)) most = cell
  }
  if (most === undefined || digitsOf(most.spentOnPlay) <= 0n)
    return html`Nothing was spent on play in this range.`
  const day = LONG_DAYS[most.day - 1] ?? ''
  const pointer = `/cells/${cells.indexOf(most)}`
  return html`<span data-at="${pointer}/hour ${pointer}/spentOnPlay"
    >Most was spent on play on ${day}, in the hour from ${most.hour} o’clock: ${amountHtml(most.spentOnPlay)}
    ${site.token}.</span
  >`
}

const LONG_DAYS = [
  'Mondays',
  'Tuesdays',
  'Wednesdays',
  'Thursdays',
  'Fridays',
  'Saturdays',
  'Sundays',
] as const

const CELL = { left: 76, top: 104, width: 33, height: 30 } as const

/** Heat map of the amounts spent in each hour of the week, as a picture. */
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
        <text class="x i${step}" x="${x(hour) + CELL.width / 2}" y="${y(row) + 19}"
          >${about(figure).replace('≈', '')}</text
        >`
    })}
    <text x="${CELL.left}" y="${y(DAYS.length) + 20}">
      ${view.site.token} spent on play in each hour, UTC${offsetText(tz)}; digits are cut off. A step for each
      quarter of the greatest cell.
    </text>`
  return framed(
    {
      title: 'Spent on play by hour of the week',
      asOf,
      range: `${momentText(from)} to ${momentText(to)}`,
      ...sourceOf(view),
    },
    {
      body,
      height: y(DAYS.length) + 32,
      description: DAYS.map((day, row) => `${day}: ${patterns.byDay[row]?.spentOnPlay ?? ''}.`).join(' '),
      theme: themeOf(view),
    },
  )
}
