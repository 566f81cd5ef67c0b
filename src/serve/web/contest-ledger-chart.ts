import { add, formatAmount, parseAmount, ZERO } from '../../protocol/amount.ts'
import type { ContestLedger } from '../../protocol/resources.ts'
import { stepChart } from './charts/chart-step.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { View } from './page.ts'

/** What was paid as time went on, beside what was won: drawn of a whole list of payouts alone. */
export function paidChart(
  { asOf, contest, pool, payouts, next }: ContestLedger,
  { site, query }: View,
): Html | null {
  const [first] = payouts
  const last = payouts.at(-1)
  if (first === undefined || last === undefined || next !== null || query.has('after')) return null
  const fromMs = contest.closedAtMs ?? first.atMs
  const toMs = contest.paidAtMs ?? asOf.atMs ?? last.atMs
  let sum = ZERO
  const steps = payouts.map(({ atMs, kots }) => {
    sum = add(sum, parseAmount(kots ?? '') ?? ZERO)
    return { atMs, figure: formatAmount(sum) }
  })
  // Of a contest without prizes only stakes are given back.
  const won = /[1-9]/.test(contest.prizesOwed)
  const refunds = pool.out['refund'] === undefined ? '' : ', refunds too'
  return html`<h2>Paid as time went on</h2>
    ${stepChart({
      id: 'paid',
      title: 'Paid as time went on',
      description: `From the close of the contest to ${contest.paidAtMs === null ? 'now' : 'its last payment'}: what was paid grows with each payout in the table below${won ? `, towards the ${contest.prizesOwed} ${site.token} that were won` : ''}.`,
      fromMs,
      toMs: Math.max(toMs, last.atMs),
      series: [
        {
          name: `Paid so far${refunds}, ${site.token}`,
          style: 1,
          steps: [{ atMs: fromMs, figure: '0.000000000' }, ...steps],
        },
        ...(won
          ? [
              {
                name: `Won, as it stands now, ${site.token}`,
                style: 2,
                steps: [{ atMs: fromMs, figure: contest.prizesOwed }],
              } as const,
            ]
          : []),
      ],
    })}`
}
