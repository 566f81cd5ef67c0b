import type { EventWire } from './event.ts'
import type { EventType } from './rules.ts'
import type { JsonSchema } from './schema.ts'

// The JSON answers of /api/v1 as they stand on the wire (spec, section 5). Amounts are strings with nine
// decimals, prices with twelve; a moment is always the pair `x` and `xMs`; what does not apply is null.

type Amount = string
type Price = string

/** The last event counted; seq 0 with null moments on an empty log. */
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
  /** What has been put in. */
  pool: Amount
  entries: number
  plays: number
  spentOnPlay: Amount
  prizesOwed: Amount
  prizesRedeemed: Amount
  prizesNotRedeemed: Amount
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

export const BUCKETS = ['minute', 'hour', 'day', 'week'] as const
export type Bucket = (typeof BUCKETS)[number]

/** The range an answer used, after flooring and ceiling to its buckets. */
export type Range = Readonly<{ from: string; fromMs: number; to: string; toMs: number; bucket: Bucket }>

export type FlowFigures = Readonly<{ spentOnPlay: Amount; paidInPrizes: Amount; burned: Amount }>

export type FlowBucket = Readonly<{
  at: string
  atMs: number
  complete: boolean
  tokenPriceUsd: Price | null
}> &
  FlowFigures

export type Flows = Range & Readonly<{ asOf: AsOf; buckets: readonly FlowBucket[]; totals: FlowFigures }>

export type FundFigures = Readonly<{
  treasury: Amount
  runningPools: Amount
  loyaltyFund: Amount
  prizesNotRedeemed: Amount
}>

export type FundBucket = Readonly<{ at: string; atMs: number; complete: boolean }> & FundFigures

export type Funds = Range & Readonly<{ asOf: AsOf; now: FundFigures; buckets: readonly FundBucket[] }>

/** One published half of a loyalty run. */
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
  /** Payouts made for this month, corrected ones not counted. */
  payouts: number
}>

export type LoyaltyRuns = Readonly<{ asOf: AsOf; runs: readonly LoyaltyRun[] }>

export type PatternFigures = Readonly<{
  spentOnPlay: Amount
  byKind: Readonly<Record<string, Amount>>
  paidInPrizes: Amount
  burned: Amount
  plays: number
}>

export type Patterns = Readonly<{
  asOf: AsOf
  from: string
  fromMs: number
  to: string
  toMs: number
  tz: number
  byHour: readonly (Readonly<{ hour: number }> & PatternFigures)[]
  /** 1 = Monday to 7 = Sunday. */
  byDay: readonly (Readonly<{ day: number }> & PatternFigures)[]
  cells: readonly (Readonly<{ day: number; hour: number }> & PatternFigures)[]
}>

export type EventsPage = Readonly<{
  events: readonly EventWire[]
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

/** Bytes of a file or of its unpacked lines, with their SHA-256 in hex. */
export type Digest = Readonly<{ bytes: number; sha256: string }>

/** What is recorded of a closed month, once and for ever. `size` is the log's at the month's end. */
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
  /** Of the month's lines, unpacked: they survive another compression. */
  lines: Digest
  /** Of the file as served. */
  gzip: Digest
  /** The details' file as served, and its lines unpacked. */
  details: Digest & Readonly<{ lines: Digest }>
}>

/** Who signs the log and who did, and the logs that this one goes on from, of which `size` events are in it. */
export type LogKeys = Readonly<{
  origin: string
  logId: string
  keys: readonly Readonly<{
    vkey: string
    state: 'signing' | 'retired'
    /** It signs trees larger than this, up to `toSize` once it is retired. */
    fromSize: number
    toSize: number | null
    /** A signed note in which an older key vouches for this one; null for the first. */
    statement: string | null
  }>[]
  formerLogs: readonly Readonly<{ id: string; origin: string; size: number }>[]
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
}>

/** What an event says beyond its eight fields, each moment as its pair; null when it says nothing more. */
export type EventDetails = Readonly<{
  seq: number
  details: Readonly<Record<string, string | number | boolean>> | null
}>

/** Which later events set an event right: the one that took it back, and the one that states it anew. */
export type EventCorrections = Readonly<{ asOf: AsOf }> &
  Readonly<{ seq: number; correctedBy: number | null; restatedBy: number | null }>

/** The catalogue: what each type of event says, moves and needs, and which kinds there have been. */
export type EventTypes = Readonly<{
  asOf: AsOf
  types: readonly Readonly<{
    type: EventType
    kinds: readonly Readonly<{
      /** A fixed kind, or `*` for every other word of the operator. */
      kind: string
      meaning: string
      posting: Readonly<{ from: string; to: string }> | null
    }>[]
    seen: readonly Readonly<{ kind: string; firstSeq: number }>[]
    /** The JSON Schema of its events, with those of their details under `$defs`. */
    schema: JsonSchema
  }>[]
}>
