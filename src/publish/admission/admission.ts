import { type ContestState, poolBalance, unpaidOfKind } from '../../project/fold/contest.ts'
import {
  contestOf,
  correctionOf,
  entryOf,
  type Fold,
  loyaltyOf,
  prizeKindsOf,
  restatementOf,
} from '../../project/fold/fold.ts'
import { accountLabel, balanceOf, isInside } from '../../project/fold/ledger.ts'
import { KINDS_MAX } from '../../project/fold/tally.ts'
import { type Amount, billionths, formatAmount, negate, ZERO } from '../../protocol/amount.ts'
import {
  CORRECTABLE_TYPES,
  type EventType,
  RESERVED_KINDS,
  ruleKind,
  type RuleKind,
  ruleOf,
  TYPE_TERMS,
} from '../../protocol/rules.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { ProblemCode } from '../../protocol/problem.ts'
import { CONTEST_STATUSES, type ContestStatus } from '../../protocol/enumerations.ts'

/** Reason why the books refuse a draft, and the field at fault. */
export type BooksRefusal = Readonly<{ code: ProblemCode; field: string; reason: string }>

/** Setting for a draft whose order or balance is wrong: refuse it, or publish and report it. */
export type BalancesSetting = 'refuse' | 'report'

/** Verdict on a draft. `refusal` refuses it. `irregular` is the violated rule of a draft that is published anyway. */
type DraftVerdict = Readonly<{ refusal: BooksRefusal | null; irregular: BooksRefusal | null }>

/**
 * Checks a draft against the current books (PROTOCOL.md, section 3): order of a contest's events, corrections,
 * restatements, loyalty runs and balances.
 */
export function judgeDraft(fold: Fold, draft: Draft, balances: BalancesSetting): DraftVerdict {
  const impossible = refusalOfFacts(fold, draft)
  if (impossible !== null) return { refusal: impossible, irregular: null }
  const irregular = refusalOfOrder(fold, draft) ?? refusalOfBalance(fold, draft)
  return balances === 'refuse' ? { refusal: irregular, irregular: null } : { refusal: null, irregular }
}

/**
 * Checks that every setting needs, because the books could not be computed without them. Corrections and restatements
 * must refer to a suitable event, and the kinds of some types are limited.
 */
function refusalOfFacts(fold: Fold, draft: Draft): BooksRefusal | null {
  if (draft.type === 'correction') return refusalOfCorrection(fold, draft)
  const excess = refusalOfKind(fold, draft)
  if (excess !== null) return excess
  const restates = draft.details?.restates
  if (restates === undefined) return null
  const restated = entryOf(fold, restates)
  const field = 'details.restates'
  if (restated === undefined) return wrong(field, 'no event has this seq')
  if (restated.event.type !== draft.type) return wrong(field, 'that event is of another type')
  if (correctionOf(fold, restates) === undefined)
    return wrong(field, 'that event is not corrected: publish a correction first')
  const already = restatementOf(fold, restates)
  return already === undefined ? null : wrong(field, `event ${already} has replaced that event`)
}

/** Kinds so far of each type that is limited. */
const LIMITED_KINDS: Readonly<
  Partial<Record<EventType, (fold: Fold) => Pick<ReadonlySet<string>, 'has' | 'size'>>>
> = {
  play: ({ tally }) => tally.byKind.spentOnPlay,
  prize: prizeKindsOf,
  payout: ({ tally }) => tally.byKind.paidInPrizes,
  burn: ({ tally }) => tally.byKind.burned,
}

/** Checks that a kind is known, or that the log can have one more of its type. Reserved kinds do not count. */
function refusalOfKind(fold: Fold, { type, kind }: Draft): BooksRefusal | null {
  const kinds = RESERVED_KINDS.has(kind) ? undefined : LIMITED_KINDS[type]?.(fold)
  if (kinds === undefined || kinds.size < KINDS_MAX || kinds.has(kind)) return null
  return { code: 'invalid-draft', field: 'kind', reason: `a log has at most ${KINDS_MAX} kinds of ${type}` }
}

function refusalOfCorrection(fold: Fold, draft: Draft): BooksRefusal | null {
  const corrects = draft.details?.corrects
  const field = 'details.corrects'
  const corrected = corrects === undefined ? undefined : entryOf(fold, corrects)
  if (corrects === undefined || corrected === undefined) return wrong(field, 'no event has this seq')
  const { event } = corrected
  if (!CORRECTABLE_TYPES.includes(event.type)) {
    return wrong(field, `an event of type ${event.type} cannot be corrected: publish a further event`)
  }
  const already = correctionOf(fold, corrects)
  if (already !== undefined) return wrong(field, `event ${already} has corrected that event`)
  if (draft.kind !== event.type) return wrong('kind', `the corrected event is of type ${event.type}`)
  if (draft.contestId !== event.contestId) {
    return wrong('contestId', `the corrected event has contestId ${String(event.contestId)}`)
  }
  const kots = event.kots === null ? null : negate(event.kots)
  if (draft.kots !== kots) {
    if (kots === null) return wrong('kots', 'must be absent: the corrected event has no amount')
    return wrong('kots', `must be ${formatAmount(kots)}, the corrected amount with the opposite sign`)
  }
  return null
}

/** Checks the order of a draft: the status of its contest, or the state of its loyalty run. */
function refusalOfOrder(fold: Fold, draft: Draft): BooksRefusal | null {
  const contest = draft.contestId === null ? undefined : contestOf(fold, draft.contestId)
  if (draft.type === 'contest') return refusalOfMove(contest, draft)
  if (draft.type === 'loyalty') return refusalOfLoyaltyOrder(fold, draft)
  const { takenIn } = TYPE_TERMS[draft.type]
  return takenIn === null || draft.contestId === null ? null : refusalOfStatus(contest, draft, takenIn)
}

/** Contest statuses that each kind of `contest` event can follow. */
const MOVED_FROM: Readonly<Record<RuleKind<'contest'>, readonly ContestStatus[]>> = {
  scheduled: [],
  rescheduled: ['upcoming', 'running'],
  renamed: CONTEST_STATUSES,
  opened: ['upcoming'],
  closed: ['running'],
  cancelled: ['upcoming', 'running'],
  paid: ['paying'],
}

function refusalOfStatus(
  contest: ContestState | undefined,
  draft: Draft,
  taken: readonly ContestStatus[],
): BooksRefusal | null {
  if (contest === undefined) return wrong('contestId', NEVER_SCHEDULED)
  if (taken.includes(contest.status)) return null
  // The replacement of a cancelled event is admitted in that event's states and in all later ones.
  const tooEarly = contest.status === 'upcoming'
  if (draft.details?.restates !== undefined && !tooEarly) return null
  const replaces = tooEarly ? '' : ', or in place of a corrected event, which details.restates names'
  return wrong(
    'type',
    `this contest is ${contest.status}: publish ${draft.type} only while it is ${taken.join(' or ')}${replaces}`,
  )
}

const NEVER_SCHEDULED = 'this contest was never scheduled'

function refusalOfMove(contest: ContestState | undefined, draft: Draft): BooksRefusal | null {
  const kind = ruleKind('contest', draft.kind)
  if (kind === 'scheduled') {
    return contest === undefined ? null : wrong('contestId', `this contest is ${contest.status} already`)
  }
  if (contest === undefined) return wrong('contestId', NEVER_SCHEDULED)
  const from = kind === undefined ? [] : MOVED_FROM[kind]
  if (!from.includes(contest.status)) {
    return wrong(
      'kind',
      `this contest is ${contest.status}: publish ${draft.kind} only while it is ${from.join(' or ')}`,
    )
  }
  if (
    draft.kind === 'rescheduled' &&
    contest.status === 'running' &&
    draft.details?.opensAt !== contest.opensAt
  ) {
    return wrong('details.opensAt', 'a running contest may move its closesAt only')
  }
  if (draft.kind === 'rescheduled' && draft.details?.closesAt === undefined && contest.closesAt !== null) {
    return wrong(
      'details.closesAt',
      'this contest has announced its end, which may move and not be taken back',
    )
  }
  return draft.kind === 'paid' ? refusalOfPaid(contest) : null
}

function refusalOfPaid(contest: ContestState): BooksRefusal | null {
  const pool = poolBalance(contest)
  if (pool !== ZERO) return notEmpty(`pool:${contest.id}`, pool)
  for (const kind of contest.prizes.keys()) {
    const left = unpaidOfKind(contest, kind)
    if (left !== ZERO) return notEmpty(`unredeemed:${contest.id}:${kind}`, left)
  }
  return null
}

function notEmpty(account: string, balance: Amount): BooksRefusal {
  return wrong('kind', `${account} holds ${formatAmount(balance)}; a paid contest holds nothing`)
}

function refusalOfLoyaltyOrder(fold: Fold, draft: Draft): BooksRefusal | null {
  const month = draft.details?.month
  if (month === undefined) return null
  const run = loyaltyOf(fold, month)
  const input = run?.inputs.at(-1)
  const output = run?.outputs.at(-1)
  const field = 'details.month'
  const replaces = restatesHalf(fold, draft)
  switch (ruleKind('loyalty', draft.kind)) {
    case 'input':
      if (input !== undefined) return wrong(field, `event ${input.seq} has published this month's input`)
      if (output === undefined || replaces) return null
      return wrong(field, `event ${output.seq} has published this month's output`)
    case 'output':
      if (output !== undefined) return wrong(field, `event ${output.seq} has published this month's output`)
      return input === undefined && !replaces ? wrong(field, 'this month has no input yet') : null
    case 'accrual':
    case 'scheduled':
    case undefined:
      return null
  }
}

/** Whether an input or output of a loyalty run replaces a cancelled one of the same kind and month. */
function restatesHalf(fold: Fold, { kind, details }: Draft): boolean {
  const restated = details?.restates === undefined ? undefined : entryOf(fold, details.restates)
  return restated?.event.kind === kind && restated.details?.month === details?.month
}

/** Checks that the paying account has the amount. Corrections are exempt. */
function refusalOfBalance(fold: Fold, draft: Draft): BooksRefusal | null {
  if (draft.type === 'correction' || draft.kots === null) return null
  const from = ruleOf(draft.type, draft.kind)?.posting?.from
  if (from === undefined || !isInside(from)) return null
  const contest = draft.contestId === null ? undefined : contestOf(fold, draft.contestId)
  const balance = billionths(balanceOf(from, fold.tally, contest, draft.kind))
  if (balance >= draft.kots || draft.kots === ZERO) return null
  return {
    code: 'insufficient-balance',
    field: 'kots',
    reason: `${accountLabel(from, draft)} holds ${formatAmount(balance)}, less than ${formatAmount(draft.kots)}`,
  }
}

function wrong(field: string, reason: string): BooksRefusal {
  return { code: 'wrong-state', field, reason }
}
