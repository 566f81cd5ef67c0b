import { keysOf } from './brand.ts'
import type { ContestStatus } from './enumerations.ts'

/** All event types (PROTOCOL.md, section 3). */
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

/** Type with rules of its own. A correction has none: its kind is the type that it corrects. */
export type RuledType = Exclude<EventType, 'correction'>

/** A kind that the rules of a type name. */
export type RuleKind<Type extends RuledType> = keyof (typeof TABLE)[Type] & string

/** Held drafts of a contest: all of them, its plays, or its `contest/closed` and `contest/cancelled`. */
export type HeldBefore = 'all' | 'plays' | 'close'

/** Rule of one type and kind: the fields that a draft must or may have, and its posting. */
export type Rule = Readonly<{
  type: EventType
  /** A fixed kind, or `*` for the operator's own words. */
  kind: string
  contestId: 'must' | 'none' | 'as-corrected'
  kots: 'must' | 'none' | 'as-corrected'
  tx: 'must' | 'may' | 'none'
  /** Earlier held drafts of its contest that it waits for, even when the books accept it. */
  waitsFor?: HeldBefore
  /** Accounts between which the amount moves; absent when nothing moves. */
  posting?: Readonly<{ from: AccountName; to: AccountName }>
  details: Readonly<Partial<Record<DetailsField, 'must' | 'may'>>>
  /** One sentence for the catalogue at `/api/v1/event-types`. */
  meaning: string
}>

type Columns = Partial<Pick<Rule, 'contestId' | 'kots' | 'tx' | 'waitsFor' | 'details'>> & {
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
const TABLE = {
  contest: {
    scheduled: row({ ...YES, details: { title: 'may', opensAt: 'must', closesAt: 'may' } }, 'A contest is planned'),
    rescheduled: row({ ...YES, details: { opensAt: 'must', closesAt: 'may' } }, 'A contest has other planned times'),
    renamed: row({ ...YES, details: { title: 'must', reason: 'may' } }, 'A contest has another title'),
    opened: row(YES, 'A contest takes plays'),
    closed: row({ ...YES, waitsFor: 'plays' }, 'A contest takes no more plays and pays its prizes'),
    paid: row({ ...YES, waitsFor: 'all' }, 'Every prize of a contest is redeemed or has lapsed'),
    cancelled: row({ ...YES, waitsFor: 'all', details: { reason: 'may' } }, 'A contest does not take place; what it holds is refunded'),
  },
  play: {
    '*': row({ ...PAID, tx: 'may', move: ['players', 'treasury'], details: { count: 'may' } }, 'Spent on play in a contest'),
  },
  pool: {
    sponsor: row({ ...PAID, tx: 'may', move: ['world', 'pool'] }, 'Added to a contest’s pool from outside'),
    returned: row({ ...PAID, tx: 'may', waitsFor: 'all', move: ['pool', 'treasury'] }, 'Left over in a contest’s pool and returned to the treasury'),
    '*': row({ ...PAID, tx: 'may', move: ['treasury', 'pool'] }, 'Added to a contest’s pool from the treasury'),
  },
  prize: {
    '*': row({ ...PAID, waitsFor: 'close', move: ['pool', 'unredeemed'], details: { unlocksAt: 'may', reviewUntil: 'may', claim: 'may', winners: 'may' } }, 'Won in a contest and owed to the winners'),
  },
  hold: {
    '*': row({ ...YES, waitsFor: 'close', details: { reviewUntil: 'must' } }, 'The review hold of what is unpaid of this kind of prize moves'),
  },
  payout: {
    refund: row({ ...PAID, tx: 'must', waitsFor: 'close', move: ['pool', 'players'] }, 'Paid back to players out of a contest’s pool'),
    loyalty: row({ ...SUM, tx: 'must', move: ['loyalty', 'players'], details: { month: 'must' } }, 'Paid to players as the loyalty reward of a month'),
    '*': row({ ...PAID, tx: 'must', waitsFor: 'close', move: ['unredeemed', 'players'] }, 'Paid to winners of a contest'),
  },
  expiry: {
    '*': row({ ...PAID, waitsFor: 'all', move: ['unredeemed', 'treasury'] }, 'Won, never redeemed, and lapsed to the treasury'),
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
    deposit: row({ ...SUM, tx: 'may', move: ['world', 'treasury'], details: { reason: 'may' } }, 'Moved into the treasury from outside'),
    withdrawal: row({ ...SUM, tx: 'may', move: ['treasury', 'world'], details: { reason: 'may' } }, 'Moved out of the treasury'),
  },
  price: {
    usd: row({ details: { price: 'must' } }, 'The price of one token in US dollars'),
  },
  trade: {
    buy: row({ ...SUM, tx: 'may' }, 'Bought in the token’s market pool'),
    sell: row({ ...SUM, tx: 'may' }, 'Sold in the token’s market pool'),
  },
} satisfies Readonly<Record<RuledType, Readonly<Record<string, RuleRow>>>>

/** Lists of the API that an event can change. */
export type ChangedList = 'contests' | 'prizes' | 'waits' | 'loyalty' | 'schedule'

/** Terms of a type, whatever the kind. */
type TypeTerms = Readonly<{
  /** Whether its events can be corrected, once. Contests and holds are corrected by a further event instead. */
  correctable: boolean
  /** Contest statuses in which it is admitted. Null where the kind decides, or where no contest is needed. */
  takenIn: readonly ContestStatus[] | null
  /** Lists that it can change, for their ETags. */
  changes: readonly ChangedList[]
  /** Whether it sets the token price. */
  setsPrice?: true
  /** Whether its contest lists it among the payouts. */
  isListedPayout?: true
}>

/** Terms of every type. */
// prettier-ignore
export const TYPE_TERMS: Readonly<Record<EventType, TypeTerms>> = {
  contest: { correctable: false, takenIn: null, changes: ['contests', 'schedule', 'waits'] },
  play: { correctable: true, takenIn: ['running'], changes: ['contests'] },
  pool: { correctable: true, takenIn: ['upcoming', 'running', 'paying'], changes: ['contests'] },
  prize: { correctable: true, takenIn: ['running', 'paying'], changes: ['contests', 'prizes', 'waits'] },
  hold: { correctable: false, takenIn: ['running', 'paying'], changes: ['contests', 'prizes'] },
  payout: { correctable: true, takenIn: ['running', 'paying'], changes: ['contests', 'prizes', 'loyalty', 'schedule', 'waits'], isListedPayout: true },
  expiry: { correctable: true, takenIn: ['running', 'paying'], changes: ['contests', 'prizes', 'waits'] },
  burn: { correctable: true, takenIn: null, changes: [] },
  loyalty: { correctable: true, takenIn: null, changes: ['loyalty', 'schedule'] },
  treasury: { correctable: true, takenIn: null, changes: [] },
  price: { correctable: true, takenIn: null, changes: [], setsPrice: true },
  trade: { correctable: true, takenIn: null, changes: [] },
  correction: { correctable: false, takenIn: null, changes: [] },
}

export const CORRECTABLE_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => TYPE_TERMS[type].correctable,
)

const CORRECTION_RULES: readonly Rule[] = CORRECTABLE_TYPES.map((kind) => ({
  type: 'correction',
  kind,
  contestId: 'as-corrected',
  kots: 'as-corrected',
  tx: 'none',
  ...(kind === 'prize' ? { waitsFor: 'all' } : {}),
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

type TypeAndKind = Readonly<{ type: EventType; kind: string }>

/** Type whose effect an event has; for a correction the corrected type, which is its kind. */
export function causeType({ type, kind }: TypeAndKind): EventType {
  return type === 'correction' && isEventType(kind) ? kind : type
}

/** Whether an event sets or cancels a token price. */
export function setsPrice(event: TypeAndKind): boolean {
  return TYPE_TERMS[causeType(event)].setsPrice === true
}

/** Whether a contest lists an event among its payouts: a payout, or the correction of one. */
export function isListedPayout(event: TypeAndKind): boolean {
  return TYPE_TERMS[causeType(event)].isListedPayout === true
}
