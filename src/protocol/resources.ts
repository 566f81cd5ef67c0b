import type { EventWire } from './event.ts'
import type { Mirror } from './mirror-resource.ts'
import type { EventType } from './rules.ts'
import type { JsonSchema } from './schema.ts'

// JSON answers of /api/v1 (spec, section 5), but those of `range-resources.ts`. Amounts are strings with nine decimals, prices with twelve. A moment is
// a pair `x` and `xMs`. A field that does not apply is null.

type Amount = string
type Price = string

/** Last event that an answer counts; seq 0 and null moments on an empty log. */
export type AsOf = Readonly<{ seq: number; at: string | null; atMs: number | null }>

export type Summary = Readonly<{
  asOf: AsOf
  contests: Readonly<{ upcoming: number; running: number; paying: number; paid: number }>
  entries: number
  plays: number
  events: number
  payouts: number
  spentOnPlay: Amount
  paidInPrizes: Amount
  paidInLoyalty: Amount
  burned: Amount
  runningPools: Amount
  prizesNotRedeemed: Amount
  treasury: Amount
  loyaltyFund: Amount
  tokenPriceUsd: Price | null
}>

export const CONTEST_STATUSES = ['upcoming', 'running', 'paying', 'paid'] as const
export type ContestStatus = (typeof CONTEST_STATUSES)[number]

/** Orders of `/contests`. */
export const CONTEST_SORTS = ['newest', 'closesAt', 'pool', 'prizesNotRedeemed'] as const
export type ContestSort = (typeof CONTEST_SORTS)[number]

export const CONTEST_OUTCOMES = ['cancelled', 'owing', 'lapsed', 'paid'] as const
/**
^ * Outcome of a contest. `owing`: a correction after its `contest/paid` left prizes of some kind unpaid. `lapsed`: all is
 * settled, and some prizes expired.
 */
export type ContestOutcome = (typeof CONTEST_OUTCOMES)[number]

export type ContestWire = Readonly<{
  id: number
  title: string | null
  status: ContestStatus
  opensAt: string
  opensAtMs: number
  closesAt: string
  closesAtMs: number
  openedAt: string | null
  openedAtMs: number | null
  closedAt: string | null
  closedAtMs: number | null
  paidAt: string | null
  paidAtMs: number | null
  /** All amounts put into the pool. */
  pool: Amount
  entries: number
  plays: number
  spentOnPlay: Amount
  prizesOwed: Amount
  prizesRedeemed: Amount
  prizesExpired: Amount
  prizesNotRedeemed: Amount
  /** Null while prizes may still be paid. */
  outcome: ContestOutcome | null
  cancelledAt: string | null
  cancelledAtMs: number | null
}>

export type Contest = Readonly<{ asOf: AsOf }> & ContestWire

export type Contests = Readonly<{ asOf: AsOf; contests: readonly ContestWire[]; next: string | null }>

export type PrizeLine = Readonly<{
  kind: string
  owed: Amount
  redeemed: Amount
  expired: Amount
  notRedeemed: Amount
}>

export type ContestLedger = Readonly<{
  asOf: AsOf
  contest: ContestWire
  pool: Readonly<{
    in: Readonly<Record<string, Amount>>
    out: Readonly<Record<string, Amount>>
    balance: Amount
  }>
  prizes: readonly PrizeLine[]
  payouts: readonly EventWire[]
  next: string | null
}>

export type Planned = Readonly<{ contestId: number; title: string | null; at: string; atMs: number }>

export type Schedule = Readonly<{
  asOf: AsOf
  opens: readonly Planned[]
  closes: readonly Planned[]
  nextLoyaltyPayment: Readonly<{ month: string; at: string; atMs: number }> | null
}>

export const UNPAID_STATUSES = ['locked', 'in_review', 'awaiting_claim', 'payable', 'overpaid'] as const
export type UnpaidStatus = (typeof UNPAID_STATUSES)[number]

export type Unpaid = Readonly<{
  contestId: number
  kind: string
  kots: Amount
  status: UnpaidStatus
  unlocksAt: string | null
  unlocksAtMs: number | null
  reviewUntil: string | null
  reviewUntilMs: number | null
  availableAt: string
  availableAtMs: number
}>

export type Payouts = Readonly<{
  asOf: AsOf
  now: Readonly<{ at: string; atMs: number }>
  unpaid: readonly Unpaid[]
  totals: Readonly<Record<UnpaidStatus, Amount>>
  next: string | null
}>

/** Published input or output of a loyalty reward. */
export type LoyaltyFile = Readonly<{
  seq: number
  digest: string
  bytes: number | null
  url: string | null
  at: string
  atMs: number
}>

export type LoyaltyRun = Readonly<{
  month: string
  paysAt: string | null
  paysAtMs: number | null
  input: LoyaltyFile | null
  output: LoyaltyFile | null
  recipients: number | null
  total: Amount | null
  paid: Amount
  notPaid: Amount | null
  /** Payouts for this month, without corrected ones. */
  payouts: number
}>

export type LoyaltyRuns = Readonly<{ asOf: AsOf; runs: readonly LoyaltyRun[] }>

export type EventsPage = Readonly<{
  events: readonly EventWire[]
  /** With `details=1`: the details of those events that have some, by seq. */
  details?: Readonly<Record<string, DetailsFields>>
  page: Readonly<{
    after?: number
    before?: number
    limit: number
    count: number
    scannedTo: number
    hasMore: boolean
    next: string | null
  }>
}>

export type ArchiveMonth = Readonly<{
  month: string
  state: 'open' | 'closed'
  url: string
  detailsUrl: string
  bytes: number | null
  events: number
  firstSeq: number | null
  lastSeq: number | null
  sha256: string | null
  linesSha256: string | null
}>

export type ArchiveIndex = Readonly<{ months: readonly ArchiveMonth[] }>

/** Size and SHA-256 (hex) of a file or of its unpacked lines. */
export type Digest = Readonly<{ bytes: number; sha256: string }>

/** Manifest of a closed month; immutable. */
export type ArchiveManifest = Readonly<{
  month: string
  firstSeq: number | null
  lastSeq: number | null
  events: number
  /** Index of the first leaf; null in a month without events. */
  firstIndex: number | null
  /** The tree at the month's end: its size, its root in base64, and its signed checkpoint. */
  size: number
  root: string
  checkpoint: string
  /** Unpacked lines, whose digest does not depend on compression. */
  lines: Digest
  /** File as served. */
  gzip: Digest
  /** Details file as served, and its unpacked lines. */
  details: Digest & Readonly<{ lines: Digest }>
}>

/** All keys that sign or have signed the log, and the former logs that it continues. */
export type LogKeys = Readonly<{
  origin: string
  logId: string
  keys: readonly Readonly<{
    vkey: string
    state: 'signing' | 'retired'
    /** The key signs trees of this size and larger ones, up to `toSize` once it is retired. */
    fromSize: number
    toSize: number | null
    /** Signed note in which an older key vouches for this key; null for a first key. */
    statement: string | null
  }>[]
  formerLogs: readonly Readonly<{ id: string; origin: string; size: number }>[]
}>

/** Drafts that wait for the blockchain, and those that the operator decided: counts and ages only. */
export type Finality = Readonly<{
  /** Whether the node asks the blockchain; otherwise the operator vouches for each transaction. */
  asked: boolean
  held: number
  /** Moment at which the oldest held draft was accepted; null when none is held. */
  oldestAt: string | null
  oldestAtMs: number | null
  /** Held drafts that the chain has settled and the books refuse. */
  refused: number
  failed: number
  dropped: number
  vouched: number
}>

export type Status = Readonly<{
  asOf: AsOf
  now: Readonly<{ at: string; atMs: number }>
  head: Readonly<{ seq: number; at: string | null; atMs: number | null; ageMs: number | null }>
  version: string
  log: string
  origin: string
  chain: string
  simulated: boolean
  following: Readonly<{ state: 'leader' | 'follower'; behind: number }>
  finality: Finality
  /** Null on a node that is no mirror. */
  mirror: Mirror | null
}>

/** Details of an event, each moment as a pair; null for an event without details. */
export type EventDetails = Readonly<{
  seq: number
  details: DetailsFields | null
}>

type DetailsFields = Readonly<Record<string, string | number | boolean>>

/** Later events that correct an event: the one that cancels it, and the one that replaces it. */
export type EventCorrections = Readonly<{ asOf: AsOf }> &
  Readonly<{ seq: number; correctedBy: number | null; restatedBy: number | null }>

/** Catalogue of event types: their kinds, postings and schemas, and the kinds in this log. */
export type EventTypes = Readonly<{
  asOf: AsOf
  types: readonly Readonly<{
    type: EventType
    kinds: readonly Readonly<{
      /** A fixed kind, or `*` for any other word of the operator. */
      kind: string
      meaning: string
      posting: Readonly<{ from: string; to: string }> | null
    }>[]
    seen: readonly Readonly<{ kind: string; firstSeq: number }>[]
    /** JSON Schema of its events, with schemas of their details under `$defs`. */
    schema: JsonSchema
  }>[]
}>
