import type { Plot } from './chart-plot.ts'
import { plotOnPage } from './chart-plot.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { expressed } from './share.ts'

/** Plots of the same buckets: a main one over the whole width, and small ones side by side. */
type ChartGroup = Readonly<{
  main: Plot | null
  caption: Html
  panels: readonly Readonly<{ plot: Plot; name: string; said: Html | null }>[]
  placement: 'middle' | 'end'
  /** Id of the table, which has a row for each bucket, in order. */
  table: string
  buckets: number
}>

/** Charts with a slider that shows each bucket from the table. */
export function chartGroup({ main, caption, panels, placement, table, buckets }: ChartGroup): Html {
  return html`<div data-chart="${table}" data-stands="${placement}">
    <figure class="chart">
      ${main === null ? null : plotOnPage(main)}
      <figcaption>${caption}</figcaption>
    </figure>
    ${buckets > 1 && buckets <= ROWS_WHOLE_MAX ? slider(buckets) : null}
    <div class="panels">
      ${panels.map(
        ({ plot, name, said }) =>
          html`<figure class="chart">
            <figcaption class="head">
              <b>${name}</b> ${said === null ? null : html`<span>${said}</span>`}
            </figcaption>
            ${plotOnPage(plot)}
          </figure>`,
      )}
    </div>
  </div>`
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
