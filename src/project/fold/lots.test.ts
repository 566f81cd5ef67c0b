import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { correcting, type EventSketch, logOf, time } from '../../../test/story/story.ts'
import type { MemoryLog } from '../../../test/story/memory-log.ts'
import { billionths, formatAmount, ZERO } from '../../protocol/amount.ts'
import { msOf } from '../../protocol/moment.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { availableAt, kindKey, type Lot, type Take, underHold } from './contest.ts'
import { apply } from './fold.ts'
import { addLot, cancelLot, type LotRepository, openLotBook, takeFromLots } from './lots.ts'
import { groupsOf } from './unpaid-groups.ts'
import { formatTerms } from './unpaid.ts'

const CONTEST = contestIdOf(1)
const prize = (kots: string, unlocks = '2026-10-02'): EventSketch => ({
  at: '2026-10-02',
  is: 'prize/winner',
  contest: 1,
  kots,
  details: { unlocksAt: time(unlocks) },
})
const payout = (kots: string): EventSketch => ({ at: '2026-10-03', is: 'payout/winner', contest: 1, kots })
const expiry = (kots: string): EventSketch => ({ at: '2026-10-03', is: 'expiry/winner', contest: 1, kots })
const hold = (until: string): EventSketch => ({
  at: '2026-10-03',
  is: 'hold/winner',
  contest: 1,
  details: { reviewUntil: time(until) },
})
/** Corrects the event `seq`, which is of this type. */
const cancel = (seq: number, type: 'prize' | 'payout' | 'expiry'): EventSketch => ({
  at: '2026-10-04',
  is: `correction/${type}`,
  details: correcting(seq),
})

function lotsOf(log: MemoryLog): readonly Lot[] {
  const { repository } = log.fold()
  return log.entries().flatMap(({ event }) => repository.lot(event.seq) ?? [])
}

/** Open lots as `<seq of the prize> <unpaid amount>`. */
function open(story: readonly EventSketch[]): readonly string[] {
  return lotsOf(logOf(story))
    .filter(({ unpaid }) => unpaid !== 0n)
    .map(({ seq, unpaid }) => `${seq} ${formatAmount(unpaid).split('.', 1)[0]}`)
}

suite('payments of prizes', () => {
  const stories: readonly (readonly [promise: string, story: readonly EventSketch[], unpaid: string])[] = [
    ['pay the prize that unlocks first', [prize('10', '2026-10-09'), prize('10'), payout('4')], '1 10, 2 6'],
    ['pay equal prizes in the order of the log', [prize('10'), prize('10'), payout('4')], '1 6, 2 10'],
    ['go on with the next prize', [prize('10'), prize('10'), payout('14')], '2 6'],
    [
      'pay a prize that is published later and unlocks earlier first',
      [prize('9', '2026-10-07'), prize('9', '2026-10-09'), prize('9', '2026-10-08'), payout('10')],
      '2 9, 3 8',
    ],
    [
      'pay a prize under a later hold last',
      [prize('10'), hold('2026-10-09'), prize('10'), payout('4')],
      '1 10, 3 6',
    ],
    ['are owed again when they are corrected', [prize('10'), payout('4'), cancel(2, 'payout')], '1 10'],
    [
      'of several prizes are owed again when they are corrected',
      [prize('3'), prize('9'), expiry('5'), cancel(3, 'expiry')],
      '1 3, 2 9',
    ],
    ['overpay a corrected prize', [prize('10'), payout('4'), cancel(1, 'prize')], '1 -4'],
    ['beyond all prizes are an overpayment of their own', [prize('10'), payout('14')], '2 -4'],
    ['beyond all prizes count for the next prize', [prize('10'), payout('14'), prize('9')], '3 5'],
    [
      'of a corrected prize move to the others',
      [prize('9'), prize('9'), payout('4'), cancel(1, 'prize')],
      '2 5',
    ],
    [
      'that moved to another prize are owed there when they are corrected',
      [prize('9'), prize('9'), payout('4'), cancel(1, 'prize'), cancel(3, 'payout')],
      '2 9',
    ],
    [
      'that were corrected never move',
      [
        prize('9'),
        payout('6'),
        cancel(2, 'payout'),
        prize('5'),
        payout('4'),
        cancel(1, 'prize'),
        cancel(5, 'payout'),
      ],
      '4 5',
    ],
  ]
  for (const [promise, story, unpaid] of stories) {
    test(promise, () => assert.equal(open(story).join(', '), unpaid))
  }
})

const steps = fc.array(
  fc.record({
    is: fc.constantFrom('prize', 'prize', 'payout', 'payout', 'expiry', 'hold', 'cancel', 'cancel'),
    kots: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 4, max: 8 }),
    pick: fc.nat(100),
  }),
  { minLength: 2, maxLength: 24, size: 'max' },
)

/** A story of one contest, in which payments may exceed the prizes. */
const stories: fc.Arbitrary<readonly EventSketch[]> = steps.map((chosen) => {
  const told: EventSketch[] = []
  const left = new Set<number>()
  for (const { is, kots, day, pick } of chosen) {
    const seq = told.length + 1
    if (is === 'cancel') {
      const corrected = [...left][pick % Math.max(1, left.size)]
      if (corrected === undefined) continue
      left.delete(corrected)
      const type = told[corrected - 1]?.is.split('/', 1)[0]
      told.push(cancel(corrected, type as 'prize' | 'payout' | 'expiry'))
      continue
    }
    if (is === 'hold') told.push(hold(`2026-10-0${day}`))
    else left.add(seq)
    if (is === 'prize') told.push(prize(`${kots}`, `2026-10-0${day}`))
    if (is === 'payout') told.push(payout(`${kots}`))
    if (is === 'expiry') told.push(expiry(`${kots}`))
  }
  return told
})

const sumOf = (takes: readonly Take[]): bigint => takes.reduce((sum, { amount }) => sum + amount, 0n)

/** Rows of unpaid prizes by their terms. */
function rowsOf(log: MemoryLog): ReadonlyMap<string, Readonly<{ first: number; unpaid: bigint }>> {
  const rows = log.books().unpaid({ contestIds: [CONTEST], kinds: null, after: 0, limit: 100 })
  return new Map(rows.map(({ first, terms, unpaid }) => [formatTerms(terms), { first, unpaid }]))
}

suite('the lots of a contest', () => {
  test('lack what was taken from them, and every payment that stands is taken in full', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const log = logOf(story)
        const { repository } = log.fold()
        const corrected = new Set(log.entries().map(({ details }) => details?.corrects))
        for (const lot of lotsOf(log))
          assert.equal(lot.unpaid, lot.amount - sumOf(repository.takesFrom(lot.seq)))
        for (const { event } of log.entries()) {
          const { seq, kots } = event
          const due = corrected.has(seq) ? 0n : kots
          if (event.type === 'prize') assert.equal(repository.lot(seq)?.amount, due)
          if (event.type === 'payout' || event.type === 'expiry')
            assert.equal(sumOf(repository.takesBy(seq)), due)
        }
      }),
    )
  })

  test('are never unpaid beside an overpaid one, and queue by the moment at which they become available', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const log = logOf(story)
        const { repository, lotBooks } = log.fold()
        const held = repository.hold(CONTEST, 'winner')
        const left = lotsOf(log).filter(({ unpaid }) => unpaid !== 0n)
        assert.ok(left.every(({ unpaid }) => unpaid > 0n) || left.every(({ unpaid }) => unpaid < 0n))
        const due = left.filter(({ unpaid }) => unpaid > 0n).map((lot) => underHold(lot, held))
        const book = lotBooks.get(kindKey(CONTEST, 'winner'))
        assert.deepEqual(
          book?.queue ?? [],
          due.toSorted((a, b) => availableAt(a) - availableAt(b) || a.seq - b.seq).map(({ seq }) => seq),
        )
        assert.deepEqual(book?.groups ?? new Map(), groupsOf(left.map((lot) => underHold(lot, held))))
      }),
    )
  })

  test('are the same when the events are folded in batches, with the rows before and after each batch', () => {
    fc.assert(
      fc.property(stories, fc.nat(), (story, pick) => {
        const done = pick % story.length
        const [whole, begun] = [logOf(story), logOf(story.slice(0, done))]
        const before = rowsOf(begun)
        const fold = begun.fold()
        for (const entry of whole.entries().slice(done)) apply(fold, entry)
        const after = new Map(before)
        for (const { terms, ...change } of fold.changes.unpaid.values()) {
          const key = formatTerms(terms)
          assert.deepEqual(change.before, before.get(key) ?? null)
          if (change.after === null) after.delete(key)
          else after.set(key, change.after)
        }
        assert.deepEqual(after, rowsOf(whole))
        const repository = whole.fold().repository
        for (const [seq, lot] of fold.changes.lots) assert.deepEqual(lot, repository.lot(seq))
        for (const [seq, takes] of fold.changes.takes) {
          const taken = new Map(
            begun
              .fold()
              .repository.takesBy(seq)
              .map((take) => [take.lot, take]),
          )
          for (const [lot, take] of takes) taken.set(lot, take)
          const standing = [...taken.values()].filter(({ amount }) => amount !== 0n)
          assert.deepEqual(new Set(standing), new Set(repository.takesBy(seq)))
        }
      }),
    )
  })
})

/** A prize of 2 for each seq from 1 to `count`. */
const prizeLot = (seq: number): Lot => {
  const [amount, atMs] = [billionths(2n), msOf(seq)]
  const terms = { unlocksAt: null, reviewUntil: null, heldFrom: seqOf(seq), claim: false }
  return { seq: seqOf(seq), contestId: CONTEST, kind: 'winner', atMs, amount, unpaid: amount, ...terms }
}

/** A repository in memory, and the lots whose takes were read from it. */
function countingRepository(): Readonly<{ repository: LotRepository; read: number[] }> {
  const lots = new Map<number, Lot>()
  const takes = new Map<string, Take>()
  const standing = (): Take[] => [...takes.values()].filter(({ amount }) => amount !== ZERO)
  const read: number[] = []
  const repository: LotRepository = {
    lot: (seq) => lots.get(seq),
    taken: (seq, lot) => takes.get(`${seq}/${lot}`)?.amount ?? ZERO,
    takesBy: (seq) => standing().filter((take) => take.seq === seq),
    takesFrom(lot) {
      read.push(lot)
      return standing().filter((take) => take.lot === lot)
    },
    putLot: (lot) => void lots.set(lot.seq, lot),
    putTake: (take) => void takes.set(`${take.seq}/${take.lot}`, take),
    noteRow: () => undefined,
  }
  return { repository, read }
}

test('a new prize reads the payments of one overpaid prize, however many there are', () => {
  const { repository, read } = countingRepository()
  const book = openLotBook([], undefined)
  const prizes = Array.from({ length: 200 }, (_, index) => prizeLot(index + 1))
  for (const lot of prizes) addLot(book, repository, lot)
  for (const { seq, amount } of prizes) {
    takeFromLots(book, repository, seqOf(seq + 200), amount, () =>
      assert.fail('each payment finds its prize'),
    )
  }
  for (const { seq } of prizes) cancelLot(book, repository, seq)
  assert.deepEqual(read, [])
  addLot(book, repository, prizeLot(401))
  assert.deepEqual(read, [1])
  assert.equal(book.open.size, 199)
})
