import type { ContestLedger, PrizeLine } from '../../../protocol/endpoints/contest-endpoints.ts'
import { amountHtml, isZero } from '../../markup/amount-html.ts'
import { facts, sectionHead, shareBar } from '../../markup/book.ts'
import { type Derived, derived, derivedSum, expressed, sumOfAll, type Term } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { kindName, kindPlace, poolKindName } from '../../markup/kind-words.ts'
import { type AccountSide, EQUAL_SUMS, exactSum, tAccount } from '../../markup/t-account.ts'
import type { View } from '../../frame/page.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { isWholeList } from '../../frame/answers.ts'

/** Two sums that must be equal. */
type SumPair = Readonly<{ first: Derived; second: Derived; isEqual: boolean }>

/** Sum of all payments, and the sum paid or refunded in the ledger; null unless the ledger has all payments. */
export function paymentSums(ledger: ContestLedger, view: View): SumPair | null {
  const { payouts, prizes, pool } = ledger
  if (!isWholeList(ledger, view)) return null
  const { refund } = pool.out
  return pairOf(
    sumOfAll(
      '/payouts/*/kots',
      payouts.map(({ kots }) => kots ?? ''),
    ),
    derivedSum([
      ...prizes.map(({ redeemed: figure }, index) => ({ pointer: `/prizes/${index}/redeemed`, figure })),
      ...(refund === undefined ? [] : [{ pointer: '/pool/out/refund', figure: refund } satisfies Term]),
    ]),
  )
}

/** Two sums of the pool: all additions, and all payments plus the balance; null before the first addition. */
export function poolSums({ pool }: ContestLedger): SumPair | null {
  const rest = derivedSum([{ pointer: '/pool/balance', figure: pool.balance }])
  const paid = sumOfAll('/pool/out/*', Object.values(pool.out))
  const terms = [...(paid === null ? [] : [paid]), ...(rest === null ? [] : [rest])]
  const out = derivedSum(terms.map(({ figure }) => ({ pointer: '', figure })))
  const expression = `sum ${paid === null ? '' : '/pool/out/* '}/pool/balance`
  return pairOf(sumOfAll('/pool/in/*', Object.values(pool.in)), out === null ? null : { ...out, expression })
}

function pairOf(first: Derived | null, second: Derived | null): SumPair | null {
  if (first === null || second === null) return null
  return { first, second, isEqual: first.figure === second.figure }
}

/** Both sums of the payments side by side, and whether they are equal. */
export function paymentCheck(ledger: ContestLedger, view: View): Html | null {
  const sums = paymentSums(ledger, view)
  if (sums === null) return null
  const { payouts, pool } = ledger
  const { refund } = pool.out
  const isPlain = payouts.every(({ type }) => type === 'payout')
  const count = expressed('count /payouts', String(payouts.length))
  const all = !isPlain
    ? 'Payments and corrections'
    : payouts.length === 1
      ? 'The one payment'
      : html`The ${count} payments`
  return html`<h2>Do they add up?</h2>
    ${facts([
      [all, exactSum(sums.first)],
      [
        refund === undefined || isZero(refund)
          ? 'Paid, says the ledger'
          : 'Paid and given back, says the ledger',
        exactSum(sums.second),
      ],
    ])}
    <p>${sums.isEqual ? EQUAL_SUMS : html`<b class="bad">The two do not agree.</b>`}</p>`
}

/** The pool as a T account: in on the left, out on the right, and both sums. */
export function poolAccount(ledger: ContestLedger, { site }: View): Html {
  const { pool, contest } = ledger
  const sums = poolSums(ledger)
  if (sums === null) {
    return html`<section>
      <h2>The pool</h2>
      <p>
        ${contest.closedAt === null ? 'Nothing has been put into the pool yet.' : 'Nothing was put into the pool.'}
      </p>
    </section>`
  }
  const isOver = Object.keys(pool.out).length > 0
  return html`<section>
    ${sectionHead(
      isOver ? 'How the pool came together, and where it went' : 'How the pool comes together',
      html`<span>${site.token}, exact</span>`,
    )}
    ${tAccount([
      {
        heading: 'In',
        list: '/pool/in',
        rows: rowsOf('in', pool.in),
        sum: { name: 'All that came in', of: sums.first },
      },
      {
        heading: 'Out',
        list: '/pool/out',
        rows: rowsOf('out', pool.out),
        rest: [{ name: 'Left in the pool', pointer: '/pool/balance', figure: pool.balance }],
        sum: { name: isOver ? 'All that went out or is left' : 'All that is left', of: sums.second },
      },
    ])}
  </section>`
}

/** Rows of a side, the winner first. */
function rowsOf(way: 'in' | 'out', kinds: Readonly<Record<string, string>>): AccountSide['rows'] {
  return Object.entries(kinds)
    .toSorted(([one], [other]) => byPlace(one, other))
    .map(([kind, figure]) => ({ name: poolKindName(kind), pointer: `/pool/${way}/${kind}`, figure }))
}

type Column = 'owed' | 'redeemed' | 'expired' | 'notRedeemed'

/** Whether a contest has prizes. A prize that was cancelled before any payment is a line of zeros. */
export function hasPrizes({ prizes }: ContestLedger): boolean {
  return prizes.some(({ owed, redeemed, expired }) => ![owed, redeemed, expired].every(isZero))
}

/** Whether payments of a kind exceed its prizes. A kind may also be below zero because too much has expired. */
export function isOverpaid(prizes: readonly PrizeLine[]): boolean {
  return prizes.some(({ owed, redeemed }) => digitsOf(redeemed) > digitsOf(owed))
}

/** Table of the prizes by kind: won, paid, expired and unpaid, and the sums. */
export function prizeTable({ prizes }: ContestLedger, { site }: View): Html | null {
  if (prizes.length === 0) return null
  const lapses = prizes.some(({ expired }) => !isZero(expired))
  return html`<h2>Prizes by kind</h2>
    <table class="cards prizes" data-list="/prizes">
      <caption class="hidden">
        Amounts in ${site.token}
      </caption>
      <thead>
        <tr>
          <th scope="col" data-field="kind">Who</th>
          <th scope="col" class="r" data-field="owed">Won</th>
          <th scope="col" class="r fold" data-field="redeemed">Paid</th>
          ${lapses ? html`<th scope="col" class="r" data-field="expired">Never claimed</th>` : null}
          <th scope="col"><span class="hidden">Share paid</span></th>
          <th scope="col" class="r" data-field="notRedeemed">Unpaid</th>
        </tr>
      </thead>
      <tbody>
        ${prizes
          .map((prize, index) => ({ prize, index }))
          .toSorted((a, b) => byPlace(a.prize.kind, b.prize.kind))
          .map(({ prize, index }) => prizeRow(prize, index, lapses))}
      </tbody>
      <tfoot>
        ${sumRow(prizes, lapses)}
      </tfoot>
    </table>`
}

function prizeRow(prize: PrizeLine, index: number, lapses: boolean): Html {
  const { kind, owed, redeemed, expired } = prize
  return html`<tr data-row="/prizes/${index}">
    <th scope="row">${kindName(kind)}</th>
    <td class="r won" data-label="won">${amountHtml(owed)}</td>
    <td class="r fold">${amountHtml(redeemed)}</td>
    ${lapses ? html`<td class="r" data-label="never claimed">${amountHtml(expired)}</td>` : null}
    <td class="bar">${shareBar(partOf(redeemed, owed))}</td>
    <td class="r" data-label="${isAllPaid(prize) ? '' : 'unpaid'}">${openOf(prize, index)}</td>
  </tr>`
}

/** Unpaid amount of a kind, or text that all of it is paid. */
function openOf(prize: PrizeLine, index: number): Html {
  if (!isAllPaid(prize)) return amountHtml(prize.notRedeemed)
  const expression = `all-paid /prizes/${index}/notRedeemed /prizes/${index}/expired`
  return html`<span class="chip done">${expressed(expression, 'All paid')}</span>`
}

function isAllPaid({ owed, expired, notRedeemed }: PrizeLine): boolean {
  return !isZero(owed) && isZero(expired) && isZero(notRedeemed)
}

function sumRow(prizes: readonly PrizeLine[], lapses: boolean): Html {
  const sum = (column: Column): Html | null => {
    const total = sumOfAll(
      `/prizes/*/${column}`,
      prizes.map((prize) => prize[column]),
    )
    return total === null ? null : derived(total)
  }
  return html`<tr>
    <th scope="row">All</th>
    <td class="r won" data-label="won">${sum('owed')}</td>
    <td class="r fold">${sum('redeemed')}</td>
    ${lapses ? html`<td class="r" data-label="never claimed">${sum('expired')}</td>` : null}
    <td class="bar fold"></td>
    <td class="r" data-label="unpaid">${sum('notRedeemed')}</td>
  </tr>`
}

/** Order of kinds in a list: the winner first, then the order of the API. */
function byPlace(one: string, other: string): number {
  const [first, second] = [kindPlace(one), kindPlace(other)]
  return first === second ? 0 : first - second
}

/** A part of a whole from 0 to 1, for a bar. */
export function partOf(part: string, whole: string): number {
  return isZero(whole) ? 0 : Math.min(1, Math.max(0, Number(part) / Number(whole)))
}
