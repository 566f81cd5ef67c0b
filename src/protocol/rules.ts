/** The closed list of types (spec, section 3). */
export const EVENT_TYPES = [
  'contest',
  'play',
  'pool',
  'prize',
  'hold',
  'payout',
  'expiry',
  'burn',
  'loyalty',
  'treasury',
  'price',
  'trade',
  'correction',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** An account of the platform's books; `pool` and `unredeemed` exist once per contest (and kind). */
export type AccountName = 'treasury' | 'pool' | 'unredeemed' | 'loyalty' | 'players' | 'burned' | 'world'

export type DetailsField =
  | 'title'
  | 'opensAt'
  | 'closesAt'
  | 'count'
  | 'unlocksAt'
  | 'reviewUntil'
  | 'claim'
  | 'winners'
  | 'month'
  | 'paysAt'
  | 'digest'
  | 'recipients'
  | 'bytes'
  | 'url'
  | 'price'
  | 'corrects'
  | 'reason'
  | 'restates'

/** What one type and kind asks of a draft, and which account gives and which receives. */
export type Rule = Readonly<{
  type: EventType
  /** A fixed kind, or `*` for the operator's own words. */
  kind: string
  contestId: 'must' | 'none' | 'as-corrected'
  kots: 'must' | 'none' | 'as-corrected'
  tx: 'must' | 'may' | 'none'
  /** Debit and credit: the amount moves `from` one account `to` one other; absent where nothing moves. */
  posting?: Readonly<{ from: AccountName; to: AccountName }>
  details: Readonly<Partial<Record<DetailsField, 'must' | 'may'>>>
  /** One sentence for the catalogue at `/api/v1/event-types`. */
  meaning: string
}>

type Columns = Partial<Pick<Rule, 'contestId' | 'kots' | 'tx' | 'details'>> & {
  readonly move?: readonly [from: AccountName, to: AccountName]
}

const YES = { contestId: 'must' } as const
const PAID = { contestId: 'must', kots: 'must' } as const
const SUM = { kots: 'must' } as const

/** One row of the table; a column that is left out says that the field does not apply. */
function rule(type: EventType, kind: string, columns: Columns, meaning: string): Rule {
  const { move, details = {}, ...rest } = columns
  const posting = move === undefined ? {} : { posting: { from: move[0], to: move[1] } }
  return { type, kind, contestId: 'none', kots: 'none', tx: 'none', ...rest, ...posting, details, meaning }
}

// prettier-ignore
const CONTEST_RULES: readonly Rule[] = [
  rule('contest', 'scheduled', { ...YES, details: { title: 'may', opensAt: 'must', closesAt: 'must' } }, 'A contest is planned'),
  rule('contest', 'rescheduled', { ...YES, details: { opensAt: 'must', closesAt: 'must' } }, 'A contest has other planned times'),
  rule('contest', 'opened', YES, 'A contest takes plays'),
  rule('contest', 'closed', YES, 'A contest takes no more plays and pays its prizes'),
  rule('contest', 'paid', YES, 'Every prize of a contest is redeemed or has lapsed'),
  rule('contest', 'cancelled', { ...YES, details: { reason: 'may' } }, 'A contest does not take place; what it holds is refunded'),
  rule('play', '*', { ...PAID, tx: 'may', move: ['players', 'treasury'], details: { count: 'may' } }, 'Spent on play in a contest'),
  rule('pool', 'sponsor', { ...PAID, tx: 'may', move: ['world', 'pool'] }, 'Added to a contest’s pool from outside'),
  rule('pool', 'returned', { ...PAID, move: ['pool', 'treasury'] }, 'Left over in a contest’s pool and returned to the treasury'),
  rule('pool', '*', { ...PAID, tx: 'may', move: ['treasury', 'pool'] }, 'Added to a contest’s pool from the treasury'),
  rule('prize', '*', { ...PAID, move: ['pool', 'unredeemed'], details: { unlocksAt: 'may', reviewUntil: 'may', claim: 'may', winners: 'may' } }, 'Won in a contest and owed to the winners'),
  rule('hold', '*', { ...YES, details: { reviewUntil: 'must' } }, 'The review hold of what is unpaid of this kind of prize moves'),
  rule('payout', 'refund', { ...PAID, tx: 'must', move: ['pool', 'players'] }, 'Paid back to players out of a contest’s pool'),
  rule('payout', 'loyalty', { ...SUM, tx: 'must', move: ['loyalty', 'players'], details: { month: 'must' } }, 'Paid to players as the loyalty reward of a month'),
  rule('payout', '*', { ...PAID, tx: 'must', move: ['unredeemed', 'players'] }, 'Paid to winners of a contest'),
  rule('expiry', '*', { ...PAID, move: ['unredeemed', 'treasury'] }, 'Won, never redeemed, and lapsed to the treasury'),
]

// prettier-ignore
const PLATFORM_RULES: readonly Rule[] = [
  rule('burn', '*', { ...SUM, tx: 'may', move: ['treasury', 'burned'] }, 'Burned from platform income'),
  rule('loyalty', 'accrual', { ...SUM, move: ['treasury', 'loyalty'] }, 'Set aside for the loyalty reward'),
  rule('loyalty', 'scheduled', { details: { month: 'must', paysAt: 'must' } }, 'The loyalty reward of a month is planned'),
  rule('loyalty', 'input', { details: { month: 'must', digest: 'must', bytes: 'may', url: 'may' } }, 'The digest of what a month’s loyalty reward is computed from, before the result exists'),
  rule('loyalty', 'output', { ...SUM, details: { month: 'must', digest: 'must', recipients: 'must', bytes: 'may', url: 'may' } }, 'The digest and the total of a month’s loyalty reward'),
  rule('treasury', 'deposit', { ...SUM, tx: 'may', move: ['world', 'treasury'] }, 'Moved into the treasury from outside'),
  rule('treasury', 'withdrawal', { ...SUM, tx: 'may', move: ['treasury', 'world'] }, 'Moved out of the treasury'),
  rule('price', 'usd', { details: { price: 'must' } }, 'The price of one token in US dollars'),
  rule('trade', 'buy', { ...SUM, tx: 'may' }, 'Bought in the token’s market pool'),
  rule('trade', 'sell', { ...SUM, tx: 'may' }, 'Sold in the token’s market pool'),
]

/** Types whose events can be corrected, once each. `contest` and `hold` are put right by a further event. */
export const CORRECTABLE_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => type !== 'contest' && type !== 'hold' && type !== 'correction',
)

const CORRECTION_RULES: readonly Rule[] = CORRECTABLE_TYPES.map((kind) => ({
  type: 'correction',
  kind,
  contestId: 'as-corrected',
  kots: 'as-corrected',
  tx: 'none',
  details: { corrects: 'must', reason: 'may' },
  meaning: `Cancels one earlier ${kind} event in full`,
}))

/** Every rule of the log, fixed kinds before the operator's own words of the same type. */
export const RULES: readonly Rule[] = [
  ...[...CONTEST_RULES, ...PLATFORM_RULES].map((row): Rule => ({
    ...row,
    details: { ...row.details, restates: 'may' },
  })),
  ...CORRECTION_RULES,
]
