import { keysOf } from './brand.ts'

/** All event types (spec, section 3). */
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

/** Kinds that the rules of each type name: fixed kinds, and `*` for the operator's own words. */
type RuleKinds = Readonly<{
  contest: 'scheduled' | 'rescheduled' | 'opened' | 'closed' | 'paid' | 'cancelled'
  play: '*'
  pool: 'sponsor' | 'returned' | '*'
  prize: '*'
  hold: '*'
  payout: 'refund' | 'loyalty' | '*'
  expiry: '*'
  burn: '*'
  loyalty: 'accrual' | 'scheduled' | 'input' | 'output'
  treasury: 'deposit' | 'withdrawal'
  price: 'usd'
  trade: 'buy' | 'sell'
}>

/** A type with rules of its own. A correction has the type that it corrects as its kind. */
export type RuledType = Exclude<EventType, 'correction'>

/** A kind that the rules of a type name. */
export type RuleKind<Type extends RuledType> = RuleKinds[Type]

/** Rule of one type and kind: the fields that a draft must or may have, and its posting. */
export type Rule = Readonly<{
  type: EventType
  /** A fixed kind, or `*` for the operator's own words. */
  kind: string
  contestId: 'must' | 'none' | 'as-corrected'
  kots: 'must' | 'none' | 'as-corrected'
  tx: 'must' | 'may' | 'none'
  /** Accounts between which the amount moves; absent when nothing moves. */
  posting?: Readonly<{ from: AccountName; to: AccountName }>
  details: Readonly<Partial<Record<DetailsField, 'must' | 'may'>>>
  /** One sentence for the catalogue at `/api/v1/event-types`. */
  meaning: string
}>

type Columns = Partial<Pick<Rule, 'contestId' | 'kots' | 'tx' | 'details'>> & {
  readonly move?: readonly [from: AccountName, to: AccountName]
}

type RuleRow = Omit<Rule, 'type' | 'kind'>

const YES = { contestId: 'must' } as const
const PAID = { contestId: 'must', kots: 'must' } as const
const SUM = { kots: 'must' } as const

/** One row of the table. A field without a column does not apply. */
function row(columns: Columns, meaning: string): RuleRow {
  const { move, details = {}, ...rest } = columns
  const posting = move === undefined ? {} : { posting: { from: move[0], to: move[1] } }
  return { contestId: 'none', kots: 'none', tx: 'none', ...rest, ...posting, details, meaning }
}

/** Rules of every type except `correction`, by kind. */
// prettier-ignore
const TABLE: { readonly [Type in RuledType]: Readonly<Record<RuleKind<Type>, RuleRow>> } = {
  contest: {
    scheduled: row({ ...YES, details: { title: 'may', opensAt: 'must', closesAt: 'must' } }, 'A contest is planned'),
    rescheduled: row({ ...YES, details: { opensAt: 'must', closesAt: 'must' } }, 'A contest has other planned times'),
    opened: row(YES, 'A contest takes plays'),
    closed: row(YES, 'A contest takes no more plays and pays its prizes'),
    paid: row(YES, 'Every prize of a contest is redeemed or has lapsed'),
    cancelled: row({ ...YES, details: { reason: 'may' } }, 'A contest does not take place; what it holds is refunded'),
  },
  play: {
    '*': row({ ...PAID, tx: 'may', move: ['players', 'treasury'], details: { count: 'may' } }, 'Spent on play in a contest'),
  },
  pool: {
    sponsor: row({ ...PAID, tx: 'may', move: ['world', 'pool'] }, 'Added to a contest’s pool from outside'),
    returned: row({ ...PAID, move: ['pool', 'treasury'] }, 'Left over in a contest’s pool and returned to the treasury'),
    '*': row({ ...PAID, tx: 'may', move: ['treasury', 'pool'] }, 'Added to a contest’s pool from the treasury'),
  },
  prize: {
    '*': row({ ...PAID, move: ['pool', 'unredeemed'], details: { unlocksAt: 'may', reviewUntil: 'may', claim: 'may', winners: 'may' } }, 'Won in a contest and owed to the winners'),
  },
  hold: {
    '*': row({ ...YES, details: { reviewUntil: 'must' } }, 'The review hold of what is unpaid of this kind of prize moves'),
  },
  payout: {
    refund: row({ ...PAID, tx: 'must', move: ['pool', 'players'] }, 'Paid back to players out of a contest’s pool'),
    loyalty: row({ ...SUM, tx: 'must', move: ['loyalty', 'players'], details: { month: 'must' } }, 'Paid to players as the loyalty reward of a month'),
    '*': row({ ...PAID, tx: 'must', move: ['unredeemed', 'players'] }, 'Paid to winners of a contest'),
  },
  expiry: {
    '*': row({ ...PAID, move: ['unredeemed', 'treasury'] }, 'Won, never redeemed, and lapsed to the treasury'),
  },
  burn: {
    '*': row({ ...SUM, tx: 'may', move: ['treasury', 'burned'] }, 'Burned from platform income'),
  },
  loyalty: {
    accrual: row({ ...SUM, move: ['treasury', 'loyalty'] }, 'Set aside for the loyalty reward'),
    scheduled: row({ details: { month: 'must', paysAt: 'must' } }, 'The loyalty reward of a month is planned'),
    input: row({ details: { month: 'must', digest: 'must', bytes: 'may', url: 'may' } }, 'The digest of what a month’s loyalty reward is computed from, before the result exists'),
    output: row({ ...SUM, details: { month: 'must', digest: 'must', recipients: 'must', bytes: 'may', url: 'may' } }, 'The digest and the total of a month’s loyalty reward'),
  },
  treasury: {
    deposit: row({ ...SUM, tx: 'may', move: ['world', 'treasury'] }, 'Moved into the treasury from outside'),
    withdrawal: row({ ...SUM, tx: 'may', move: ['treasury', 'world'] }, 'Moved out of the treasury'),
  },
  price: {
    usd: row({ details: { price: 'must' } }, 'The price of one token in US dollars'),
  },
  trade: {
    buy: row({ ...SUM, tx: 'may' }, 'Bought in the token’s market pool'),
    sell: row({ ...SUM, tx: 'may' }, 'Sold in the token’s market pool'),
  },
}

/** Whether events of each type can be corrected, once. A further event corrects a contest or a hold. */
const CORRECTABLE: Readonly<Record<EventType, boolean>> = {
  contest: false,
  play: true,
  pool: true,
  prize: true,
  hold: false,
  payout: true,
  expiry: true,
  burn: true,
  loyalty: true,
  treasury: true,
  price: true,
  trade: true,
  correction: false,
}

export const CORRECTABLE_TYPES: readonly EventType[] = EVENT_TYPES.filter((type) => CORRECTABLE[type])

const CORRECTION_RULES: readonly Rule[] = CORRECTABLE_TYPES.map((kind) => ({
  type: 'correction',
  kind,
  contestId: 'as-corrected',
  kots: 'as-corrected',
  tx: 'none',
  details: { corrects: 'must', reason: 'may' },
  meaning: `Cancels one earlier ${kind} event in full`,
}))

function rulesOf(type: RuledType): readonly Rule[] {
  return Object.entries<RuleRow>(TABLE[type]).map(([kind, { details, ...rest }]) => ({
    type,
    kind,
    ...rest,
    details: { ...details, restates: 'may' },
  }))
}

/** All rules, with the fixed kinds of a type before `*`. */
export const RULES: readonly Rule[] = [...keysOf(TABLE).flatMap(rulesOf), ...CORRECTION_RULES]

/** Kind in the rules for an event's kind; undefined only for a type without `*`. */
type NamedKind<Type extends RuledType> = RuleKind<Type> | ('*' extends RuleKind<Type> ? never : undefined)

/** Kind in the rules for an event's kind: the kind itself, or `*` for the operator's own words. */
export function ruleKind<Type extends RuledType>(type: Type, kind: string): NamedKind<Type> {
  const named = Object.hasOwn(TABLE[type], kind) ? kind : Object.hasOwn(TABLE[type], '*') ? '*' : undefined
  return named as NamedKind<Type>
}

/** Fixed kinds of the types that also take the operator's own words. */
type ReservedKind = {
  [Type in RuledType]: '*' extends RuleKind<Type> ? Exclude<RuleKind<Type>, '*'> : never
}[RuledType]

const RESERVED: Readonly<Record<ReservedKind, true>> = {
  refund: true,
  loyalty: true,
  sponsor: true,
  returned: true,
}

/** Kinds that only the rules that name them may use. */
export const RESERVED_KINDS: ReadonlySet<string> = new Set(keysOf(RESERVED))

const BY_NAME: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [`${rule.type}/${rule.kind}`, rule]))

/** Rule of a type and kind; undefined for an unknown pair, and for a reserved kind without a rule. */
export function ruleOf(type: string, kind: string): Rule | undefined {
  const fixed = BY_NAME.get(`${type}/${kind}`)
  if (fixed !== undefined || RESERVED_KINDS.has(kind)) return kind === '*' ? undefined : fixed
  return BY_NAME.get(`${type}/*`)
}

const TYPE_SET: ReadonlySet<string> = new Set(EVENT_TYPES)

export function isEventType(text: string): text is EventType {
  return TYPE_SET.has(text)
}

/** Form of types and kinds. */
export const WORD: RegExp = /^[a-z][a-z0-9_]{0,31}$/
