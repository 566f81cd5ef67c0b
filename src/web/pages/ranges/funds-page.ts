import type { FundFigures, Funds } from '../../../protocol/endpoints/figure-endpoints.ts'
import { amountHtml, exactAmount, headlineAmount } from '../../markup/amount-html.ts'
import { facts, figures } from '../../markup/book.ts'
import { bucketTables, chartGroup } from '../../charts/chart-figure.ts'
import { linePlot } from '../../charts/chart-line.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import type { Plot, SeriesStyle } from '../../charts/chart-plot.ts'
import { unfinishedIn } from './flows-chart.ts'
import { derived, expressed, minus, negated, ratioOf } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { bucketStart, momentText } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { monthLinks } from './month-links.ts'
import { beforeLaunch, rangeControls, rangeQuery } from './range-controls.ts'
import type { Site } from '../../markup/site.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'

type Fund = Readonly<{ key: keyof FundFigures; name: string; explained: string; style: SeriesStyle }>

const FUNDS: readonly Fund[] = [
  { key: 'treasury', name: 'Treasury', explained: 'what the platform holds', style: 1 },
  { key: 'prizesNotRedeemed', name: 'Prizes not yet paid', explained: 'won, and still owed', style: 2 },
  { key: 'runningPools', name: 'Running pools', explained: 'still to be won', style: 3 },
  { key: 'loyaltyFund', name: 'Loyalty fund', explained: 'kept for the monthly reward', style: 4 },
]

/** `/funds`: the balance of each fund, now and at the end of each bucket. */
export const fundsPage: EndpointPage<'funds'> = {
  endpoint: 'funds',
  island: 'chart',
  permalink: (funds) => `/funds?${rangeQuery(funds)}`,
  title: (funds, view) => `Funds${monthLinks(view, funds).titled}`,
  description: (funds, view) => plainText(coverageOf(funds, view)),
  csv: (answer) => answerTable('funds', answer),
  svg: pictureOf,
  heading: (funds, view) => html`<h1>${coverageOf(funds, view)}</h1>`,
  render(funds, view) {
    const { bucket, buckets } = funds
    const { site, path, query } = view
    const plots = panelsOf(funds, site)
    const { held, pointer, month } = standingOf(funds, view)
    return html`
      <p class="lead">
        The funds are separate: the treasury does not include prizes, running pools or the loyalty fund.
      </p>
      ${balancesOf(funds, view)} ${rangeControls(view, funds)}
      ${chartGroup({
        main: null,
        caption: html`${site.token} at the end of each ${bucket}, UTC. Each fund has an axis of its own, from
        zero.`,
        panels: FUNDS.flatMap(({ key, name }, index) => {
          const plot = plots[index]
          const said = html`<span data-at="${pointer}/${key}">${amountHtml(held[key])}</span>
            ${month === null ? 'now' : 'at its end'}`
          return plot === undefined ? [] : [{ plot, name, said }]
        }),
        placement: 'end',
        page: path,
        range: funds,
      })}
      ${beforeLaunch(funds)}
      <div class="two">
        ${bucketTables({
          bucket,
          buckets,
          columns: FUNDS.map(({ key, name }) => ({ field: key, name })),
          atEnd: true,
          note: `${site.token}, newest first`,
          csv: `${path}.csv${query.format()}`,
          figureOf: (one, field) => amountHtml(one[fundKey(field)]),
        })}
        ${exactOf(funds)}
      </div>
    `
  },
}

function fundKey(field: string): keyof FundFigures {
  return FUNDS.find(({ key }) => key === field)?.key ?? 'treasury'
}

/** Balances that the page is about, with their pointer: those of now, or of the end of a month that is over. */
function standingOf(
  funds: Funds,
  view: View,
): Readonly<{ held: FundFigures; pointer: string; month: Html | null }> {
  const { shown, growing } = monthLinks(view, funds)
  const last = funds.buckets.length - 1
  const held = funds.buckets[last]
  if (shown === null || growing || held === undefined)
    return { held: funds.now, pointer: '/now', month: null }
  return { held, pointer: `/buckets/${last}`, month: expressed('monthname /from', shown) }
}

/**
 * Ratio of the treasury to unpaid prizes, cut off after one decimal. After a correction, paid and expired prizes may
 * exceed prizes won.
 */
function coverageOf(funds: Funds, view: View): Html {
  const { token } = view.site
  const { held, pointer, month } = standingOf(funds, view)
  const waiting = { pointer: `${pointer}/prizesNotRedeemed`, figure: held.prizesNotRedeemed }
  if (held.prizesNotRedeemed.startsWith('-')) {
    const over = html`${derived(negated(waiting))} ${token} more`
    return month === null
      ? html`After a correction, ${over} was paid or has expired than was won.`
      : html`In ${month}, after a correction, ${over} was paid or had expired than was won.`
  }
  const ratio = ratioOf({ pointer: `${pointer}/treasury`, figure: held.treasury }, waiting)
  if (month === null) {
    return ratio === null
      ? html`No prize is waiting to be paid now.`
      : html`The treasury holds ${ratio} times the prizes that are still to be paid.`
  }
  return ratio === null
    ? html`In ${month} no prize was left to be paid at the end.`
    : html`In ${month} the treasury ended at ${ratio} times the prizes that were still to be paid.`
}

/** The four balances. */
function balancesOf(funds: Funds, view: View): Html {
  const { held, pointer, month } = standingOf(funds, view)
  return figures(
    FUNDS.map(({ key, name, explained }) => ({
      label: name,
      figure: html`<span data-at="${pointer}/${key}">${headlineAmount(held[key])}</span>`,
      note: html`${view.site.token}, ${month === null ? explained : html`at the end of ${month}`}`,
    })),
  )
}

/** Balances with all decimals, and their change from the end of the first bucket to that of the last. */
function exactOf(funds: Funds): Html {
  const { now, bucket, buckets, to } = funds
  const [first, last] = [buckets[0], buckets.at(-1)]
  const changes =
    first === undefined || last === undefined || first === last
      ? null
      : html`<h2>
            Change since the end of
            ${bucket === 'day' || bucket === 'month' ? null : `the ${bucket} from `}<span
              data-at="/buckets/0/at"
              >${bucketStart(bucket, first.at, to)}</span
            >${bucket === 'hour' || bucket === 'minute' ? ' UTC' : null}
          </h2>
          ${facts(
            FUNDS.map(({ key, name }) => [
              name,
              derived(
                minus(
                  { pointer: `/buckets/${buckets.length - 1}/${key}`, figure: last[key] },
                  { pointer: `/buckets/0/${key}`, figure: first[key] },
                ),
              ),
            ]),
          )}
          <p class="quiet">To the end of the last ${bucket} shown.</p>`
  return html`<aside>
    <h2>Held now</h2>
    ${facts(
      FUNDS.map(({ key, name }) => [name, html`<span data-at="/now/${key}">${exactAmount(now[key])}</span>`]),
    )}
    ${changes}
  </aside>`
}

/** A plot for each fund over the same time. They are not stacked, because their balances do not add up. */
function panelsOf(funds: Funds, { token }: Site): readonly Plot[] {
  const { fromMs, toMs, bucket, buckets } = funds
  const starts = buckets.map(({ at }) => at)
  return FUNDS.map(({ key, name, style }) => {
    const line = {
      name: `${name}, ${token}`,
      field: key,
      style,
      drawn: 'area',
      figures: buckets.map((one) => one[key]),
    } as const
    return linePlot({
      id: `fund-${key}`,
      title: line.name,
      fromMs,
      toMs,
      bucket,
      starts,
      unfinished: unfinishedIn(funds),
      placement: 'end',
      series: [line],
      size: 'short',
      dated: true,
    })
  })
}

function pictureOf(funds: Funds, view: View): Html {
  const { bucket, asOf, from, to } = funds
  const panels = panelsOf(funds, view.site)
  return chartPicture(
    {
      title: `Funds by ${bucket}`,
      asOf,
      range: `${momentText(from)} to ${momentText(to)}`,
      growing: unfinishedIn(funds) > 0,
    },
    // Only the last plot has dates under it.
    panels.map((plot, index) => ({ ...plot, dated: index === panels.length - 1 })),
    view,
  )
}
