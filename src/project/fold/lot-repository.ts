import { ZERO } from '../../protocol/amount.ts'
import type { Seq } from '../../protocol/seq.ts'
import { kindKey, type Lot, type Take } from './contest.ts'
import type { LotRepository } from './lots.ts'
import type { RowChange } from './unpaid-groups.ts'

/** Stored lots and takes. */
export type StoredLots = Readonly<{
  lot(seq: Seq): Lot | undefined
  /** The take of a payout or expiry from a lot. */
  take(seq: Seq, lot: Seq): Take | undefined
  takesBy(seq: Seq): readonly Take[]
  takesFrom(lot: Seq): readonly Take[]
}>

/** Changes of lots that are not stored yet. */
export type LotChanges = Readonly<{
  lots: Map<Seq, Lot>
  /** Changes of unpaid rows by contest, kind and terms, from before the first change to after the last. */
  unpaid: Map<string, RowChange>
  /** Takes by payout or expiry, then by lot; a zero take is to be removed. */
  takes: Map<Seq, Map<Seq, Take>>
  /** Payouts and expiries whose takes have changed, by lot. */
  takers: Map<Seq, Set<Seq>>
}>

/** Opens stored lots with changes on top. Further changes are added to these. */
export function openLotRepository(
  stored: StoredLots,
  { lots, unpaid, takes, takers }: LotChanges,
): LotRepository {
  const changed = (seq: Seq, lot: Seq): Take | undefined => takes.get(seq)?.get(lot)
  return {
    lot: (seq) => lots.get(seq) ?? stored.lot(seq),
    taken: (seq, lot) => (changed(seq, lot) ?? stored.take(seq, lot))?.amount ?? ZERO,
    takesBy: (seq) => overlaid(stored.takesBy(seq), takes.get(seq)?.values() ?? []),
    takesFrom: (lot) =>
      overlaid(
        stored.takesFrom(lot),
        [...(takers.get(lot) ?? [])].flatMap((seq) => changed(seq, lot) ?? []),
      ),
    putLot: (lot) => lots.set(lot.seq, lot),
    putTake(take) {
      const { seq, lot } = take
      takes.set(seq, (takes.get(seq) ?? new Map<Seq, Take>()).set(lot, take))
      takers.set(lot, (takers.get(lot) ?? new Set<Seq>()).add(seq))
    },
    noteRow(terms, change) {
      const key = `${kindKey(change.contestId, change.kind)} ${terms}`
      const noted = unpaid.get(key)
      unpaid.set(key, noted === undefined ? change : { ...change, before: noted.before })
    },
  }
}

function overlaid(stored: readonly Take[], changed: Iterable<Take>): readonly Take[] {
  const takes = new Map(stored.map((take) => [`${take.seq}/${take.lot}`, take]))
  for (const take of changed) takes.set(`${take.seq}/${take.lot}`, take)
  return [...takes.values()].filter((take) => take.amount !== ZERO)
}
