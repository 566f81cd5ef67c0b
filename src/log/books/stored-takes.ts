import type { DatabaseSync } from 'node:sqlite'
import type { Take } from '../../project/fold/contest.ts'
import type { StoredLots } from '../../project/fold/lot-repository.ts'
import type { Seq } from '../../protocol/seq.ts'
import { number, takeOfRow } from '../store/codec.ts'

/** Scans of a contest's takes before all of them are read and cached by lot. One scan costs a tenth of that. */
const SCANS_MAX = 10

export type StoredTakes = Pick<StoredLots, 'take' | 'takesBy' | 'takesFrom'>

type TakesReader = StoredTakes &
  Readonly<{
    /** Clears the cache. Must be called after takes have been written or rolled back. */
    forget(): void
  }>

/** Takes of one contest: the number of scans, and later all takes by lot. */
type OfContest = { scans: number; byLot: ReadonlyMap<Seq, readonly Take[]> | null }

/**
 * Opens the reader of takes. Takes have no index by lot, because it would cost every payout another page. Only the
 * correction of a prize needs it. Many corrections in one batch share one read of the contest's takes.
 */
export function openTakesReader(db: DatabaseSync): TakesReader {
  const take = db.prepare(
    `SELECT seq, lot, amount FROM takes
     WHERE contest = (SELECT contest FROM lots WHERE seq = ?2) AND seq = ?1 AND lot = ?2`,
  )
  const takesBy = db.prepare(
    `SELECT seq, lot, amount FROM takes
     WHERE contest = (SELECT contest FROM events WHERE seq = ?1) AND seq = ?1 AND lot > 0`,
  )
  const contestOf = db.prepare('SELECT contest FROM lots WHERE seq = ?')
  const ofLot = db.prepare('SELECT seq, lot, amount FROM takes WHERE contest = ? AND lot = ?')
  const ofContest = db.prepare('SELECT seq, lot, amount FROM takes WHERE contest = ? AND lot > 0')
  const kept = new Map<number, OfContest>()

  function takesFrom(lot: Seq): readonly Take[] {
    const row = contestOf.get(lot)
    if (row === undefined) return []
    const contest = number(row, 'contest')
    const of = kept.get(contest) ?? { scans: 0, byLot: null }
    kept.set(contest, of)
    if (of.scans < SCANS_MAX) {
      of.scans += 1
      return ofLot.all(contest, lot).map(takeOfRow)
    }
    of.byLot ??= Map.groupBy(ofContest.all(contest).map(takeOfRow), (found) => found.lot)
    return of.byLot.get(lot) ?? []
  }

  return {
    take(seq, lot) {
      const row = take.get(seq, lot)
      return row === undefined ? undefined : takeOfRow(row)
    },
    takesBy: (seq) => takesBy.all(seq).map(takeOfRow),
    takesFrom,
    forget: () => kept.clear(),
  }
}
