import * as fc from 'fast-check'
import { type Appender, openAppender } from '../../src/log/append.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import type { ContestFilter, ContestSearch } from '../../src/project/fold/books.ts'
import { billionths } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { msOf } from '../../src/protocol/moment.ts'
import {
  CONTEST_OUTCOMES,
  CONTEST_STATUSES,
  type ContestOutcome,
  type ContestSort,
  type ContestStatus,
} from '../../src/protocol/enumerations.ts'
import { contestIdOf } from '../../src/protocol/seq.ts'
import { testSigner } from './signing.ts'

/** Words of titles: cases and accents of one word, other scripts, emoji, and the syntax of query languages. */
export const TITLE_WORDS: readonly string[] = [
  ...'cup Cup CUPS Ünder under İzmir izmir ıssız Straße STRASSE Οδός οδος 12 123'.split(' '),
  ...'東京 東京カップ カップ 🏆 🎨 NEAR "quoted" a* -night x:y l’été'.split(' '),
]

/** A step of a random platform: an event of one of its contests. */
type ContestStep = Readonly<{
  is: 'schedule' | 'move' | 'rename' | 'pool' | 'prize' | 'pay' | 'lapse' | 'turn' | 'cancel'
  /** Chooses the contest, or the planned time of a new one. */
  contest: number
  kots: bigint
  title: string
}>

const titles = fc.array(fc.constantFrom(...TITLE_WORDS), { maxLength: 5 }).map((words) => words.join(' '))

/** Random steps, enough for several blocks of the list of contests. */
export const contestSteps: fc.Arbitrary<readonly ContestStep[]> = fc.array(
  fc.record<ContestStep>({
    is: fc.constantFrom(
      'schedule',
      'move',
      'rename',
      'pool',
      'prize',
      'pay',
      'lapse',
      'turn',
      'turn',
      'turn',
      'cancel',
    ),
    contest: fc.nat(1_000),
    kots: fc.oneof(fc.bigInt(1n, 9n), fc.bigInt(1n, 10n ** 27n)),
    title: titles,
  }),
  // Without a size, no array has more than about twelve steps, and then no block of the list ends.
  { minLength: 1, maxLength: 900, size: 'max' },
)

/** A contest as the test folds it, with no code of the service. */
type KnownContest = {
  id: number
  seq: number
  title: string | null
  status: ContestStatus
  isCancelled: boolean
  closesAt: number | null
  pool: bigint
  notRedeemed: bigint
  expired: bigint
}

const AT = msOf(600_000)
const OPENS_AT = msOf(500_000)
const TURNS = {
  upcoming: ['opened', 'running'],
  running: ['closed', 'paying'],
  paying: ['paid', 'paid'],
  paid: null,
} as const

/** Publishes the steps, some in each commit, and returns the contests as they are then. */
export function publishContests(
  path: string,
  steps: readonly ContestStep[],
  perCommit: number,
): readonly KnownContest[] {
  const db = openForWriting(storePath(path))
  const appender = openAppender(db, testSigner(db))
  const known: KnownContest[] = []
  for (let from = 0; from < steps.length; from += perCommit) {
    appender.begin()
    for (const step of steps.slice(from, from + perCommit)) {
      const draft = draftOf(step, known, appender.head().seq + 1)
      if (draft !== null) appender.append(draft, null, AT)
    }
    appender.write()
    dropNoise(appender, known)
    appender.commit()
  }
  db.close()
  return known
}

/** Appends events of a contest and drops them, which must leave no trace in the list. */
function dropNoise(appender: Appender, [of]: readonly KnownContest[]): void {
  if (of === undefined) return
  for (let n = 0; n < 3; n++) appender.append(draftOn(of, 'pool', 'top_up', 1n), null, AT)
  appender.forget()
}

/** Draft of a step, and its effect on the contests; null for a step that is out of place. */
function draftOf(
  { is, contest, kots, title }: ContestStep,
  known: KnownContest[],
  seq: number,
): Draft | null {
  if (is === 'schedule') {
    // Some contests announce no end.
    const closesAt = contest % 7 === 6 ? null : 1_000_000 + (contest % 7) * 1_000
    const planned = {
      id: 200_000 - known.length,
      seq,
      title: title === '' ? null : title,
      status: 'upcoming',
      isCancelled: false,
      closesAt,
      pool: 0n,
      notRedeemed: 0n,
      expired: 0n,
    } satisfies KnownContest
    known.push(planned)
    const titled = planned.title === null ? {} : { title: planned.title }
    const details = { ...titled, ...timesTo(closesAt) }
    return draftOn(planned, 'contest', 'scheduled', null, details)
  }
  const of = known[contest % Math.max(1, known.length)]
  if (of === undefined) return null
  switch (is) {
    case 'move':
      if (of.closesAt !== null || contest % 2 === 0)
        of.closesAt = (of.closesAt ?? 1_000_000) + (contest % 5) * 1_000
      return draftOn(of, 'contest', 'rescheduled', null, timesTo(of.closesAt))
    case 'rename':
      if (title === '') return null
      of.title = title
      return draftOn(of, 'contest', 'renamed', null, { title })
    case 'pool':
      of.pool += kots
      return draftOn(of, 'pool', 'top_up', kots)
    case 'prize':
      of.notRedeemed += kots
      return draftOn(of, 'prize', 'winner', kots)
    case 'pay': {
      if (of.notRedeemed <= 0n) return null
      const paid = of.notRedeemed / 2n + 1n
      of.notRedeemed -= paid
      return { ...draftOn(of, 'payout', 'winner', paid), tx: 'transaction-0001' }
    }
    case 'lapse': {
      if (of.notRedeemed <= 0n) return null
      const lapsed = of.notRedeemed
      of.notRedeemed = 0n
      of.expired += lapsed
      return draftOn(of, 'expiry', 'winner', lapsed)
    }
    case 'cancel': {
      if (of.status !== 'upcoming' && of.status !== 'running') return null
      of.status = 'paying'
      of.isCancelled = true
      return draftOn(of, 'contest', 'cancelled', null)
    }
    case 'turn': {
      const turn = TURNS[of.status]
      if (turn === null) return null
      of.status = turn[1]
      return draftOn(of, 'contest', turn[0], null)
    }
  }
}

/** Planned times, without a close while none is announced. */
function timesTo(closesAt: number | null): Details {
  return { opensAt: OPENS_AT, ...(closesAt === null ? {} : { closesAt: msOf(closesAt) }) }
}

function draftOn(
  { id }: KnownContest,
  type: Draft['type'],
  kind: string,
  amount: bigint | null,
  details: Draft['details'] = null,
): Draft {
  const kots = amount === null ? null : billionths(amount)
  return { ref: null, atMs: null, type, kind, contestId: contestIdOf(id), kots, tx: null, details }
}

/** Words without case and accents, for the letters of `TITLE_WORDS`. Shares no code with the service. */
function naiveWords(text: string): readonly string[] {
  const letters = text
    .normalize('NFD')
    .replaceAll(/\p{Script=Inherited}/gu, (mark) => (mark === '\u3099' || mark === '\u309A' ? mark : ''))
    .replaceAll('ß', 'ss')
    .replaceAll('ı', 'i')
    .toLocaleLowerCase('en')
    .replaceAll('ς', 'σ')
    .normalize('NFC')
  return letters.split(/[^\p{L}\p{N}\p{S}]+|(?=\p{S})|(?<=\p{S})/u).filter((word) => word !== '')
}

const largest = (a: bigint, b: bigint): number => (a === b ? 0 : a > b ? -1 : 1)

const ORDERS: Readonly<Record<ContestSort, (a: KnownContest, b: KnownContest) => number>> = {
  newest: (a, b) => b.seq - a.seq,
  closesAt: (a, b) => (a.closesAt ?? 1e12) - (b.closesAt ?? 1e12) || a.seq - b.seq,
  pool: (a, b) => largest(a.pool, b.pool) || b.seq - a.seq,
  prizesNotRedeemed: (a, b) => largest(a.notRedeemed, b.notRedeemed) || b.seq - a.seq,
}

/** Outcome of a contest, whose prizes are all of one kind. */
function naiveOutcome({ status, isCancelled, notRedeemed, expired }: KnownContest): ContestOutcome | null {
  if (isCancelled) return 'cancelled'
  if (status !== 'paid') return null
  return notRedeemed > 0n ? 'owing' : expired > 0n ? 'lapsed' : 'paid'
}

/** Random filters of contests. */
export const contestFilters: fc.Arbitrary<ContestFilter> = fc.record({
  statuses: fc.option(fc.uniqueArray(fc.constantFrom(...CONTEST_STATUSES), { minLength: 1 })),
  outcomes: fc.option(fc.uniqueArray(fc.constantFrom(null, ...CONTEST_OUTCOMES), { minLength: 1 })),
})

/** Ids of the contests that a search finds, in its order. */
export function naiveSearch(
  known: readonly KnownContest[],
  q: string,
  { statuses, outcomes, sort }: Pick<ContestSearch, 'statuses' | 'outcomes' | 'sort'>,
): readonly number[] {
  const words = naiveWords(q)
  return known
    .filter(({ status }) => statuses === null || statuses.includes(status))
    .filter((one) => outcomes === null || outcomes.includes(naiveOutcome(one)))
    .filter(({ title }) => {
      const own = naiveWords(title ?? '')
      return words.every((word) => own.some((one) => one.startsWith(word)))
    })
    .toSorted(ORDERS[sort])
    .map(({ id }) => id)
}
