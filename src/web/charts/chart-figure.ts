import type { Plot, SeriesStyle } from './chart-plot.ts'
import { legend, plotOnPage, widthOf } from './chart-plot.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { expressed } from './share.ts'

/** A plot with the names of its lines. Each name includes the unit. */
export type Panel = Readonly<{
  plot: Plot
  lines: readonly Readonly<{ name: string; style: SeriesStyle }>[]
}>

/** Plots of the same buckets, stacked or side by side, and the table of their figures. */
type Panels = Readonly<{
  /** Sentence about the figures. */
  sentence: Html
  panels: readonly Panel[]
  unfinished: number
  placement: 'middle' | 'end'
  /** Id of the table, which has a row for each bucket, in order. */
  table: string
  buckets: number
  beside?: boolean
}>

/** Figure of charts, with a slider that shows each bucket from the table. */
export function chartFigure({
  sentence,
  panels,
  unfinished,
  placement,
  table,
  buckets,
  beside,
}: Panels): Html {
  const width = widthOf(buckets)
  const plots = panels.map(
    ({ plot, lines }, index) =>
      html`<div class="panel">
        ${legend(lines, index === 0 && unfinished > 0)}
        ${
          width === 'fit'
            ? plotOnPage(plot)
            : html`<div class="plots ${width}" role="region" aria-label="${plot.title}, picture" tabindex="0">
                ${plotOnPage(plot)}
              </div>`
        }
      </div>`,
  )
  return html`<figure class="chart" data-chart="${table}" data-stands="${placement}">
    <figcaption>${sentence}</figcaption>
    <div class="${beside === true ? 'pair' : 'stack'}">${plots}</div>
    ${buckets > 1 && buckets <= ROWS_WHOLE_MAX ? slider(buckets) : null}
  </figure>`
}

/** Slider of a chart. The island shows it; the style sheet reserves its space. */
function slider(buckets: number): Html {
  return html`<div class="slider">
    <label hidden
      >Read bucket by bucket
      <input type="range" min="0" max="${buckets - 1}" value="${buckets - 1}" autocomplete="off" />
    </label>
    <p aria-hidden="true"></p>
  </div>`
}

/** Most rows of a table that starts open. */
const ROWS_OPEN_MAX = 31
/** Most rows on a page. A longer table is cut and has no slider, because it would double the size of the page. */
const ROWS_WHOLE_MAX = 250
/** Rows shown of a cut table. */
const ROWS_CUT = 24

/** A column: its heading and its field of a bucket. */
type Column = Readonly<{ field: string; name: string }>

/** Table of a chart's buckets: closed when it is long, cut when it is very long. */
export function bucketTable<Bucket>(
  { id, name, columns, csv }: Readonly<{ id: string; name: string; columns: readonly Column[]; csv: string }>,
  buckets: readonly Bucket[],
  rowOf: (bucket: Bucket) => Html,
): Html {
  const isCut = buckets.length > ROWS_WHOLE_MAX
  const shown = isCut ? buckets.slice(0, ROWS_CUT) : buckets
  const most = isCut ? html` data-most="${ROWS_CUT}"` : null
  const table = html`<div class="wide" role="region" aria-label="${name}" tabindex="0">
    <table id="${id}" data-list="/buckets" ${most}>
      <thead>
        <tr>
          ${columns.map(
            (column, index) =>
              html`<th scope="col" data-field="${column.field}" ${index === 0 ? null : R}>
                ${column.name}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${shown.map(rowOf)}
      </tbody>
    </table>
  </div>`
  const open = buckets.length <= ROWS_OPEN_MAX ? html` open` : null
  const rest = html`<p>
    These are the first of them.
    <a href="${csv}">The CSV has all ${expressed('count /buckets', String(buckets.length))}</a>; of a shorter
    range, or by wider steps, they stand here too.
  </p>`
  return html`<details${open}>
    <summary>${name}</summary>
    ${isCut ? rest : null} ${table}
  </details>`
}

const R = html` class="r"`
