import { strict as assert } from 'node:assert'
import { billionths, negate } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { DaybookEvent, Entry } from '../../src/protocol/event.ts'
import { HOUR_MS, msOf } from '../../src/protocol/moment.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'

/** A payout with its transaction and whole tokens, or the correction of an earlier payment by its index. */
export type Payment = Readonly<{ tx: string; tokens: number }> | Readonly<{ corrects: number }>

/** Events before the first payment. */
const BEFORE_PAYMENTS = 6

const START = Date.UTC(2026, 3, 1)
const TOKEN = 1_000_000_000n
const ENDLESS = billionths(1_000_000_000n * TOKEN)

/** A log of one contest with these payments, one a second. `restMs` is the time from the last of them to its newest event. */
export function paidLog(payments: readonly Payment[], restMs: number = HOUR_MS): readonly Entry[] {
  const entries: Entry[] = []
  let at = START
  const add = (event: Partial<DaybookEvent>, details: Details | null = null): void => {
    at += 1_000
    const seq = seqOf(entries.length + 1)
    const common = {
      seq,
      type: 'contest',
      kind: 'winner',
      atMs: msOf(at),
      contestId: contestIdOf(1),
    } as const
    entries.push({ event: { ...common, kots: null, tx: null, ...event }, details })
  }
  const opensAt = msOf(START)
  add({ kind: 'scheduled' }, { title: 'A contest', opensAt, closesAt: msOf(START + HOUR_MS) })
  add({ type: 'treasury', kind: 'deposit', contestId: null, kots: ENDLESS })
  add({ type: 'pool', kind: 'top_up', kots: ENDLESS })
  add({ kind: 'opened' })
  add({ kind: 'closed' })
  add({ type: 'prize', kots: ENDLESS })
  for (const payment of payments) {
    if ('tx' in payment) {
      add({ type: 'payout', kots: billionths(BigInt(payment.tokens) * TOKEN), tx: payment.tx })
      continue
    }
    const corrected = entries[BEFORE_PAYMENTS + payment.corrects]?.event
    assert.ok(corrected?.kots)
    add({ type: 'correction', kind: 'payout', kots: negate(corrected.kots) }, { corrects: corrected.seq })
  }
  at += restMs
  add({ type: 'treasury', kind: 'deposit', contestId: null, kots: billionths(TOKEN) })
  return entries
}
