import type { LoyaltyFile, LoyaltyRun, LoyaltyRuns } from '../../src/protocol/endpoints/contest-endpoints.ts'
import { asOf, billionths, decimal, type PublicEntry, uncancelled } from './book.ts'

function file(entry: PublicEntry | undefined): LoyaltyFile | null {
  if (entry === undefined) return null
  const { event, details } = entry
  if (typeof details?.digest !== 'string') throw new Error(`event ${event.seq} has no digest`)
  return {
    seq: event.seq,
    digest: details.digest,
    bytes: details.bytes ?? null,
    url: details.url ?? null,
    at: event.at,
    atMs: event.atMs,
  }
}

/** Months of the loyalty reward, newest first. Each half is the last one that is not cancelled. */
export function runs(book: readonly PublicEntry[]): readonly LoyaltyRun[] {
  const mine = uncancelled(book).filter(
    ({ event, details }) =>
      details?.month !== undefined &&
      (event.type === 'loyalty' || (event.type === 'payout' && event.kind === 'loyalty')),
  )
  const months = [...new Set(mine.map((entry) => entry.details?.month ?? ''))].toSorted().toReversed()
  return months.map((month) => {
    const ofMonth = mine.filter((entry) => entry.details?.month === month)
    const last = (kind: string): PublicEntry | undefined =>
      ofMonth.findLast(({ event }) => event.type === 'loyalty' && event.kind === kind)
    const payouts = ofMonth.filter(({ event }) => event.type === 'payout')
    let paid = 0n
    for (const payout of payouts) paid += billionths(payout.event.kots ?? '')
    const total = last('output')?.event.kots ?? null
    return {
      month,
      paysAt: last('scheduled')?.details?.paysAt ?? null,
      paysAtMs: last('scheduled')?.details?.paysAtMs ?? null,
      input: file(last('input')),
      output: file(last('output')),
      recipients: last('output')?.details?.recipients ?? null,
      total,
      paid: decimal(paid),
      notPaid: total === null ? null : decimal(billionths(total) - paid),
      payouts: payouts.length,
    }
  })
}

/** `/loyalty/runs`. */
export function loyaltyRuns(book: readonly PublicEntry[]): LoyaltyRuns {
  return { asOf: asOf(book), runs: runs(book) }
}
