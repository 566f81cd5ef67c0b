import type { LoyaltyRun, LoyaltyRuns } from '../../../protocol/endpoints/contest-endpoints.ts'
import { barChart, type Bars } from '../../charts/chart-bars.ts'
import { barPicture } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { monthMark } from '../../charts/chart-time.ts'
import { expressed } from '../../charts/share.ts'
import { derived, derivedSum } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { monthWords } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Name of a month with the pointer of its source: `October 2026`. */
export function monthName(month: string, pointer: string): Html {
  return expressed(`monthname ${pointer}`, monthWords(month))
}

type ComputedRun = Readonly<{ run: LoyaltyRun; total: string; pointer: string }>

/** Months with a computed reward, the earliest first. */
function computedIn(runs: readonly LoyaltyRun[]): readonly ComputedRun[] {
  return runs
    .flatMap((run, index) =>
      run.total === null ? [] : [{ run, total: run.total, pointer: `/runs/${index}` }],
    )
    .toSorted((a, b) => (a.run.month < b.run.month ? -1 : 1))
}

/** Chart of the reward of each month; null for a single month. */
export function rewardChart({ runs }: LoyaltyRuns, { site }: View): Html | null {
  const computed = computedIn(runs)
  const all = derivedSum(
    computed.map(({ total, pointer }) => ({ pointer: `${pointer}/total`, figure: total })),
  )
  const [first] = computed
  if (all === null || first === undefined || computed.length < 2) return null
  const most = computed.reduce(
    (greatest, one) => (digitsOf(one.total) > digitsOf(greatest.total) ? one : greatest),
    first,
  )
  const sentence = html`${derived(all)} ${site.token} in all these months, the most for
  ${monthName(most.run.month, `${most.pointer}/month`)}.`
  return barChart(barsOf(computed, site.token), sentence)
}

/** The chart as a picture, empty while no reward is computed. */
export function rewardPicture({ runs, asOf }: LoyaltyRuns, view: View): Html {
  const computed = computedIn(runs)
  const bars = barsOf(computed, view.site.token)
  const months = [computed.at(0), computed.at(-1)].flatMap((one) =>
    one === undefined ? [] : [one.run.month],
  )
  const range = months.length === 0 ? 'no month yet' : months.join(' to ')
  return barPicture(bars, { title: bars.title, asOf, range }, view)
}

function barsOf(computed: readonly ComputedRun[], token: string): Bars {
  return {
    id: 'rewards',
    title: `Loyalty reward of each month, ${token}`,
    description:
      computed.length === 0
        ? 'No reward is computed yet.'
        : computed.map(({ run, total }) => `${run.month}: ${total} ${token}.`).join(' '),
    bars: computed.map(({ run, total }) => ({ label: monthMark(run.month), figure: total })),
  }
}
