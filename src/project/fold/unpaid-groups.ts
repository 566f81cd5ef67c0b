import { add, type Amount, negate, ZERO } from '../../protocol/amount.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import type { Lot } from './contest.ts'
import { formatTerms, type PrizeTerms, termsOf } from './unpaid.ts'

/** Open lots of one contest and kind, grouped by terms. Each group is a row of `/payouts`. */
export type UnpaidGroups = Map<string, UnpaidGroup>

type UnpaidGroup = { readonly terms: PrizeTerms; readonly seqs: Seq[]; unpaid: Amount }

/** First lot and sum of a row. */
type RowState = Readonly<{ first: Seq; unpaid: Amount }>

/** Change of a row; null where the row does not exist. */
export type RowChange = Readonly<{
  contestId: ContestId
  kind: string
  terms: PrizeTerms
  before: RowState | null
  after: RowState | null
}>

/** Receives each change of a row, with the text of its terms. */
export type NoteRow = (terms: string, change: RowChange) => void

/** Groups lots, which are in the order of seq and already under the hold. */
export function groupsOf(lots: Iterable<Lot>): UnpaidGroups {
  const groups: UnpaidGroups = new Map()
  for (const lot of lots) {
    const terms = termsOf(lot)
    const key = formatTerms(terms)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { terms, seqs: [lot.seq], unpaid: lot.unpaid })
    else {
      group.seqs.push(lot.seq)
      group.unpaid = add(group.unpaid, lot.unpaid)
    }
  }
  return groups
}

/** Overpaid lot with the lowest seq. */
export function firstOverpaid(groups: UnpaidGroups): Seq | undefined {
  let first: Seq | undefined
  for (const { terms, seqs } of groups.values()) {
    const [seq] = seqs
    if (terms.overpaid && seq !== undefined && (first === undefined || seq < first)) first = seq
  }
  return first
}

/** Moves a changed lot from its former group to its new one. A fully paid lot is in no group. */
export function regroup(groups: UnpaidGroups, before: Lot | undefined, after: Lot, note: NoteRow): void {
  const from = before === undefined || before.unpaid === ZERO ? null : termsOf(before)
  const to = after.unpaid === ZERO ? null : termsOf(after)
  const fromKey = from === null ? null : formatTerms(from)
  const toKey = to === null ? null : formatTerms(to)
  if (before !== undefined && from !== null && fromKey !== null) {
    const stays = fromKey === toKey
    change(groups, after, from, fromKey, note, (group) => {
      group.unpaid = add(group.unpaid, negate(before.unpaid))
      if (stays) group.unpaid = add(group.unpaid, after.unpaid)
      else group.seqs.splice(placeOf(group.seqs, after.seq), 1)
    })
    if (stays) return
  }
  if (to === null || toKey === null) return
  change(groups, after, to, toKey, note, (group) => {
    group.unpaid = add(group.unpaid, after.unpaid)
    group.seqs.splice(placeOf(group.seqs, after.seq), 0, after.seq)
  })
}

/** Reports the changes of all rows of a contest and kind after its groups were replaced. */
export function noteAll(
  of: Pick<Lot, 'contestId' | 'kind'>,
  before: UnpaidGroups,
  after: UnpaidGroups,
  note: NoteRow,
): void {
  const { contestId, kind } = of
  for (const [key, { terms }] of new Map([...before, ...after])) {
    const states = { before: stateOf(before.get(key)), after: stateOf(after.get(key)) }
    note(key, { contestId, kind, terms, ...states })
  }
}

function change(
  groups: UnpaidGroups,
  { contestId, kind }: Lot,
  terms: PrizeTerms,
  key: string,
  note: NoteRow,
  act: (group: UnpaidGroup) => void,
): void {
  const group = groups.get(key) ?? { terms, seqs: [], unpaid: ZERO }
  const before = stateOf(group)
  act(group)
  if (group.seqs.length === 0) groups.delete(key)
  else groups.set(key, group)
  note(key, { contestId, kind, terms, before, after: stateOf(group) })
}

function stateOf(group: UnpaidGroup | undefined): RowState | null {
  const first = group?.seqs[0]
  return group === undefined || first === undefined ? null : { first, unpaid: group.unpaid }
}

/** Index of a seq in an ascending list, or the index at which to insert it. */
function placeOf(seqs: readonly Seq[], seq: Seq): number {
  // Fast paths: payments take the first lot, and new prizes come last.
  const last = seqs.at(-1)
  if (last === undefined || last < seq) return seqs.length
  if (seqs[0] === seq) return 0
  let low = 0
  let high = seqs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((seqs[middle] ?? seq) < seq) low = middle + 1
    else high = middle
  }
  return low
}
