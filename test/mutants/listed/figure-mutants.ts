import type { ListedMutant } from './listed-mutant.ts'

const FOLD = 'src/project/fold'
const ANSWERS = 'src/project/answers'

/** Bugs of the ledger and of the figures. */
export const FIGURE_MUTANTS: readonly ListedMutant[] = [
  {
    id: 'ledger-debits-only',
    file: `${FOLD}/ledger.ts`,
    from: 'tally.figures[FIGURE_OF_ACCOUNT[posting.from]] -= posting.amount',
    to: 'tally.figures[FIGURE_OF_ACCOUNT[posting.from]] -= 0n',
    promise: 'Each posting has one debit and one credit',
    tests: ['test/books/laws.test.ts', 'src/log/store/store-edges.test.ts'],
  },
  {
    id: 'ledger-correction-counts-plays',
    file: `${FOLD}/ledger.ts`,
    from: 'BigInt(effect.sign * (effect.cause.details?.count ?? 1))',
    to: 'BigInt(effect.cause.details?.count ?? 1)',
    promise: 'A correction takes the plays of its event back',
    tests: ['src/log/store/store-edges.test.ts', 'test/books/oracle.test.ts'],
  },
  {
    id: 'lots-last-first',
    file: `${FOLD}/lots.ts`,
    from: '.toSorted((a, b) => a.at - b.at || a.seq - b.seq)',
    to: '.toSorted((a, b) => b.at - a.at || a.seq - b.seq)',
    promise: 'Payouts take the prizes that are available first',
    tests: [
      'src/project/fold/unpaid.test.ts',
      'src/log/store/store-edges.test.ts',
      'test/books/holds.test.ts',
    ],
  },
  {
    id: 'lots-correction-not-settled',
    file: `${FOLD}/lots.ts`,
    from: '    shelf.putTake({ ...take, amount: ZERO })\n  }\n  settle(book, shelf)\n',
    to: '    shelf.putTake({ ...take, amount: ZERO })\n  }\n',
    promise: 'A corrected payout leaves no prize overpaid while another is unpaid',
    tests: ['src/project/fold/lots.test.ts'],
  },
  {
    id: 'outcome-of-all-kinds',
    file: `${FOLD}/contest.ts`,
    from: 'if (kinds.some((prize) => unpaidOf(prize) > ZERO))',
    to: 'if (kinds.reduce((sum, prize) => sum + unpaidOf(prize), 0n) > ZERO)',
    promise: 'A contest owes when it owes a kind of prize, also if another kind is overpaid',
    tests: ['src/project/answers/contest-outcome.test.ts', 'test/books/laws.test.ts'],
  },
  {
    id: 'price-of-a-corrected-event-stands',
    file: `${FOLD}/fold.ts`,
    from: 'const price = effect.sign === 1 ? details?.price : standingPrice(fold, seq)?.price',
    to: 'const price = details?.price',
    promise: 'A corrected price gives way to the one before it',
    tests: ['src/log/store/store-edges.test.ts', 'test/books/oracle.test.ts'],
  },
  {
    id: 'prize-payable-too-late',
    file: `${FOLD}/unpaid.ts`,
    from: "terms.unlocksAt !== null && now < terms.unlocksAt) return 'locked'",
    to: "terms.unlocksAt !== null && now <= terms.unlocksAt) return 'locked'",
    promise: 'A prize is payable from its moment on',
    tests: ['src/project/fold/unpaid.test.ts'],
  },
  {
    id: 'bucket-complete-too-early',
    file: `${ANSWERS}/as-of.ts`,
    from: 'return head.atMs !== null && head.atMs >= end',
    to: 'return head.atMs !== null',
    promise: 'A bucket is complete when an event after it is published',
    tests: [`${ANSWERS}/flows.test.ts`],
  },
  {
    id: 'range-end-inclusive',
    file: `${ANSWERS}/range.ts`,
    from: 'if (from !== undefined && to !== undefined && from >= to) return refused(BACKWARDS)',
    to: 'if (from !== undefined && to !== undefined && from > to) return refused(BACKWARDS)',
    promise: 'A range is half-open and never empty',
    tests: [`${ANSWERS}/range.test.ts`],
  },
  {
    id: 'amount-through-a-float',
    file: 'src/protocol/amount.ts',
    from: 'BigInt(scaled(text, 9))',
    to: 'BigInt(Number(scaled(text, 9)))',
    promise: 'Amounts are exact',
    tests: ['test/books/amounts.test.ts'],
  },
  {
    id: 'moment-that-is-no-day',
    file: 'src/protocol/moment.ts',
    from: '    back.getUTCMonth() === month - 1 &&\n    back.getUTCDate() === day &&\n',
    to: '',
    promise: '30 February is no moment',
    tests: ['src/protocol/moment.test.ts', 'src/serve/query/query-times.test.ts'],
  },
  {
    id: 'number-in-another-notation',
    file: 'src/protocol/seq.ts',
    from: 'if (!WHOLE.test(text)) return undefined\n',
    to: '',
    promise: 'A seq is written in plain digits',
    tests: [
      'src/serve/stream/subscription.test.ts',
      'src/serve/stream/connection.test.ts',
      'test/contract/http.test.ts',
    ],
  },
]
