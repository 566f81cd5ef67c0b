import { type Plot, plotOnPage } from './chart-plot.ts'
import type { Bucket } from '../../protocol/enumerations.ts'
import type { Flows, Funds } from '../../protocol/endpoints/figure-endpoints.ts'
import { sectionHead } from '../markup/book.ts'
import { type Html, html } from '../markup/html.ts'
import { bucketStart } from '../markup/moment-html.ts'
import { numberWords } from '../markup/prose.ts'
import { expressed } from '../markup/derived.ts'

/** Small plot with its name, and a figure on its right. */
type Panel = Readonly<{ plot: Plot; name: string; said: Html | null }>

/** Plots of the same buckets: a main one over the whole width, and small ones beside each other. */
type ChartGroup = Readonly<{
  main: Plot | null
  caption: Html
  panels: readonly Panel[]
  placement: 'middle' | 'end'
  /** Path of the page that shows any range of these buckets. */
  page: string
  range: Pick<Flows | Funds, 'bucket' | 'fromMs' | 'toMs' | 'buckets'>
}>

/**
 * Charts that a script reads bucket by bucket, from the table of this page or of `page`, and on which a reader chooses a
 * range.
 */
export function chartGroup({ main, caption, panels, placement, page, range }: ChartGroup): Html {
  const { bucket, fromMs, toMs, buckets } = range
  const slider = sliderOf(bucket, buckets.length, panels.length > 0)
  return html`<div
    data-chart
    data-stands="${placement}"
    data-page="${page}"
    data-bucket="${bucket}"
    data-count="${buckets.length}"
    data-rows="${ROWS_WHOLE_MAX}"
    data-from="${fromMs}"
    data-to="${toMs}"
    ${buckets.at(-1)?.complete === false ? html` data-growing` : null}
  >
    ${
      main === null
        ? null
        : html`<figure class="chart">
              ${plotOnPage(main)}
              <figcaption>${caption}</figcaption>
            </figure>
            ${slider}`
    }
    ${panels.length === 0 ? null : html`<div class="panels">${panels.map(panelHtml)}</div>`}
    ${
      main === null
        ? html`${slider}
            <p class="source">${caption}</p>`
        : null
    }
  </div>`
}

function panelHtml({ plot, name, said }: Panel): Html {
  return html`<figure class="chart">
    <figcaption class="head"><b>${name}</b> ${said === null ? null : html`<span>${said}</span>`}</figcaption>
    ${plotOnPage(plot)}
  </figure>`
}

/**
 * Slider of charts; null without buckets to choose. The island shows it; the style sheet reserves its space. Words below
 * it have the figures of all charts.
 */
function sliderOf(bucket: Bucket, buckets: number, worded: boolean): Html | null {
  if (buckets < 2) return null
  return html`<div class="slider">
    <label hidden
      >Read ${bucket} by ${bucket}, or hold and drag to choose ${bucket}s
      <input type="range" min="0" max="${buckets - 1}" value="${buckets - 1}" autocomplete="off" />
    </label>
    ${worded ? html`<p aria-hidden="true"></p>` : null}
  </div>`
}

/** Most rows on a page. A longer list is cut, because it would double the size of the page. */
const ROWS_WHOLE_MAX = 240
/** Newest rows, which are in sight. */
const ROWS_NEWEST = 10

/** Column of figures: its heading, its field of a bucket, and whether a phone leaves it out. */
type Column = Readonly<{ field: string; name: string; wideOnly?: boolean }>

type ShownBucket = Readonly<{ at: string; complete: boolean }>

type BucketTables<Shown> = Readonly<{
  bucket: Bucket
  buckets: readonly Shown[]
  columns: readonly Column[]
  /** Whether figures are those of a bucket's end. */
  atEnd?: boolean
  note: string
  csv: string
  /** Figure of a bucket in a column, by the column's field. */
  figureOf(shown: Shown, field: string): Html
}>

const HEADS: Readonly<Record<Bucket, string>> = {
  minute: 'Minute',
  hour: 'Hour',
  day: 'Day',
  week: 'Week from',
  month: 'Month',
}

/** Most columns of figures that a phone shows side by side. Further columns are shown below. */
const BESIDE_MAX = 3

/** Section with the buckets of charts, the newest first: ten visible rows, and the others in a second table. */
export function bucketTables<Shown extends ShownBucket>(tables: BucketTables<Shown>): Html {
  const { bucket, buckets, note, csv } = tables
  const rows = buckets.map((_, index) => buckets.length - 1 - index)
  const before = rows.slice(ROWS_NEWEST)
  const isCut = buckets.length > ROWS_WHOLE_MAX
  const count = numberWords(before.length)
  const earlier = count === null ? `The earlier ${bucket}s` : `The ${count} ${bucket}s before`
  const rest =
    before.length === 0
      ? null
      : html`<details>
          <summary>${before.length === 1 ? `The ${bucket} before` : earlier}</summary>
          ${tableOf(tables, before, earlier, null)}
        </details>`
  return html`<section>
    ${sectionHead(`${HEADS[bucket].replace(' from', '')} by ${bucket}`, html`<span>${note}</span>`)}
    ${tableOf(tables, rows.slice(0, ROWS_NEWEST), `The newest ${bucket}s`, isCut ? ROWS_NEWEST : null)}
    ${
      isCut
        ? html`<p>
            <a href="${csv}">The CSV has all ${expressed('count /buckets', String(buckets.length))}</a>. To
            see every row here, choose a shorter range or a wider bucket.
          </p>`
        : rest
    }
  </section>`
}

function tableOf<Shown extends ShownBucket>(
  { bucket, buckets, columns, atEnd, figureOf }: BucketTables<Shown>,
  rows: readonly number[],
  name: string,
  most: number | null,
): Html {
  const end = buckets.at(-1)?.at ?? ''
  const kind = (column: Column): string => (column.wideOnly === true ? 'r fold' : 'r')
  const isFolded = columns.filter(({ wideOnly }) => wideOnly !== true).length > BESIDE_MAX
  const labelOf = ({ name: label }: Column): Html | null => (isFolded ? html` data-label="${label}"` : null)
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0">
    <table
      class="buckets${isFolded ? ' cards pairs' : ''}"
      data-list="/buckets"
      ${most === null ? null : html`data-most="${most}"`}
    >
      <thead>
        <tr>
          <th scope="col" data-field="at">${HEADS[bucket]}${atEnd === true ? ', at its end' : null}, UTC</th>
          ${columns.map(
            (column) =>
              html`<th scope="col" data-field="${column.field}" class="${kind(column)}">${column.name}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map((index) => {
          const shown = buckets[index]
          return shown === undefined
            ? null
            : html`<tr data-row="/buckets/${index}">
                <th scope="row" ${isFolded ? html` class="all"` : null}>
                  ${bucketStart(bucket, shown.at, end)}${shown.complete ? null : html` <small>so far</small>`}
                </th>
                ${columns.map(
                  (column) =>
                    html`<td class="${kind(column)}" ${labelOf(column)}>
                      ${figureOf(shown, column.field)}
                    </td>`,
                )}
              </tr>`
        })}
      </tbody>
    </table>
  </div>`
}
