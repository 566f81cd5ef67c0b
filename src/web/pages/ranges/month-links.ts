import { utcMonth } from 'd3-time'
import type { View } from '../../frame/page.ts'
import { type Html, html } from '../../markup/html.ts'
import { monthWords } from '../../markup/moment-html.ts'

/** Range of a page, which ends in the future if it grows, and the first moment of the log. */
type RangeOfLog = Readonly<{ fromMs: number; toMs: number; launchedAtMs: number | null }>

/** Links to months as ranges of a page. Empty parts are null. */
export type MonthLinks = Readonly<{
  /** The shown month, such as `October 2026`, if the range is exactly a month or the present one so far. */
  shown: string | null
  /** Whether the shown month has not ended. */
  growing: boolean
  /** End of a title: ` in October 2026 so far`; empty for another range. */
  titled: string
  /** Last month and this month. */
  tabs: Html
  /** Months since the launch by year, the newest year first. In a long log, most years are links themselves. */
  names: Html
  /** Months before and after the shown one. */
  pager: Html | null
}>

/** Years whose months are all listed. In a longer log, these are the present and the shown year. */
const YEARS_LISTED_MAX = 3

/** Links to the months of a log. `changes` replaces further parameters of the page's query. */
export function monthLinks(
  view: Pick<View, 'path' | 'query' | 'now'>,
  { fromMs, toMs, launchedAtMs }: RangeOfLog,
  changes: Readonly<{ bucket?: 'day'; after?: undefined; before?: undefined }> = {},
): MonthLinks {
  const present = utcMonth(new Date(Math.max(view.now, launchedAtMs ?? 0)))
  const first = launchedAtMs === null ? utcMonth.offset(present, -1) : utcMonth(new Date(launchedAtMs))
  const start = new Date(fromMs)
  const end = utcMonth.offset(start, 1)
  const isMonth = Number(utcMonth(start)) === fromMs && toMs <= Number(end)
  const growing = isMonth && Number(start) === Number(present) && toMs >= view.now
  const shown = growing || (isMonth && toMs === Number(end)) ? nameOf(start) : null

  /** Link to a month; null if the log has nothing of it. */
  function linkTo(month: Date, label: string, attributes: Html | null = null): Html | null {
    if (month < first || month > present) return null
    // Without an end, the range of the present month grows.
    const to = Number(month) === Number(present) ? undefined : nameOf(utcMonth.offset(month, 1))
    const href = `${view.path}${view.query.format({ ...changes, from: nameOf(month), to })}`
    const current = nameOf(month) === shown ? html` aria-current="true"` : null
    return html`<a href="${href}" ${attributes} ${current}>${label}</a>`
  }

  const tab = (month: Date, label: string): Html | null => {
    const link = linkTo(month, label)
    return link === null ? null : html`<li>${link}</li>`
  }
  const years = Map.groupBy(utcMonth.range(first, utcMonth.offset(present, 1)), (month) =>
    month.getUTCFullYear(),
  )
  const isListed = (year: number): boolean =>
    years.size <= YEARS_LISTED_MAX || year === present.getUTCFullYear() || year === start.getUTCFullYear()
  const linkToYear = (year: number): Html => {
    const range = { from: `${year}-01`, to: `${year + 1}-01` }
    const bucket = changes.bucket === undefined ? {} : { bucket: 'month' }
    return html`<a href="${view.path}${view.query.format({ ...changes, ...bucket, ...range })}">${year}</a>`
  }
  const turned = [
    linkTo(utcMonth.offset(start, -1), `← ${wordsOf(utcMonth.offset(start, -1))}`, html`rel="prev"`),
    linkTo(end, `${wordsOf(end)} →`, html`rel="next"`),
  ]
  return {
    shown: shown === null ? null : monthWords(shown),
    growing,
    titled: shown === null ? '' : ` in ${monthWords(shown)}${growing ? ' so far' : ''}`,
    tabs: html`<nav aria-label="Last month and this month">
      <ul class="tabs">
        ${tab(utcMonth.offset(present, -1), 'Last month')} ${tab(present, 'This month')}
      </ul>
    </nav>`,
    names: html`<nav aria-label="Months">
      ${[...years].toReversed().map(([year, months]) =>
        !isListed(year)
          ? html`<p>${linkToYear(year)}</p>`
          : html`<p>${year}</p>
              <ul class="tabs">
                ${months.map((month) => tab(month, wordsOf(month).slice(0, SHORT_CHARS)))}
              </ul>`,
      )}
    </nav>`,
    pager:
      shown === null || turned.every((link) => link === null)
        ? null
        : html`<nav aria-label="Months before and after" class="pager" data-chrome>${turned}</nav>`,
  }
}

/** Characters of a month's short name: `Oct`. */
const SHORT_CHARS = 3

/** Month as in a query: `2026-10`. */
function nameOf(month: Date): string {
  return month.toISOString().slice(0, 7)
}

/** Month in words: `October 2026`. */
function wordsOf(month: Date): string {
  return monthWords(nameOf(month))
}
