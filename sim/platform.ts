import { formatAt, type Ms, msOf } from '../src/protocol/moment.ts'
import { type EventType, ruleOf } from '../src/protocol/rules.ts'
import { billionths, formatAmount } from '../src/protocol/amount.ts'
import { type Agenda, openAgenda } from './agenda.ts'
import { type DraftDetails, failingTxOf, type ImportDraft, refOf, txOf } from './import-draft.ts'
import { openSimLedger, type SimLedger } from './sim-ledger.ts'
import { type Random, randomOf } from './random.ts'
import { busyness, growth } from './rhythm.ts'

/** Settings of a simulated platform. The same plan gives the same drafts. */
export type Plan = Readonly<{
  seed: string
  /** Moment of the first draft. */
  from: Ms
  /** Moment from which plays are published in small totals every few seconds, instead of in large ones. */
  liveFrom: Ms
  /** Factor for the number of drafts: 1 gives about 60,000 in three months. */
  scale: number
  /** Payouts of live time for each one that fails on the chain and is sent again. The default is none. */
  failedOneIn?: number
}>

/** Draft of a part of the simulation. The platform adds ref and moment, and posts the amount. */
export type SimDraft = Readonly<{
  type: EventType
  kind: string
  contestId?: number
  /** Billionths. */
  kots?: bigint
  /** Whether the draft names a transaction. One that fails posts nothing. */
  paid?: boolean | 'fails'
  details?: DraftDetails
}>

/** Simulated platform, as its parts (contests, market, treasury, loyalty) see it. */
export type SimWorld = Readonly<{
  plan: Plan
  random: Random
  ledger: SimLedger
  now(): Ms
  /** Runs `act` at a moment; at once if the moment has passed. */
  at(ms: number, act: () => void): void
  after(ms: number, act: () => void): void
  /** Like `after`; in live time the wait passes `livePace` times faster. */
  afterPaced(ms: number, livePace: number, act: () => void): void
  /** Publishes a draft now. Returns its number, which is its seq in a log without other events. */
  publish(draft: SimDraft): number
  /** Activity now as a multiple of an average hour at the start, without the scale of the plan. */
  pace(): number
  /** Whether plays are published in small totals. */
  isLive(): boolean
}>

/** One whole token, in billionths. */
export const TOKEN = 1_000_000_000n

/** Endless drafts of a platform whose parts `begin` starts. Needs constant memory. */
export function* simulate(plan: Plan, begin: (world: SimWorld) => void): Generator<ImportDraft, undefined> {
  const agenda = openAgenda()
  const published: ImportDraft[] = []
  let now = plan.from
  let number = 0
  const publish = (ledger: SimLedger, random: Random, draft: SimDraft): number => {
    post(ledger, draft)
    published.push(importDraftOf(++number, now, draft, random))
    return number
  }
  begin(worldOf(plan, agenda, () => now, publish))
  for (;;) {
    const entry = agenda.next()
    if (entry === undefined) return undefined
    now = entry.at
    entry.act()
    yield* published
    published.length = 0
  }
}

type Publish = (ledger: SimLedger, random: Random, draft: SimDraft) => number

function worldOf(plan: Plan, agenda: Agenda, now: () => Ms, publish: Publish): SimWorld {
  const random = randomOf(`${plan.seed}/${plan.from}/${plan.scale}`)
  const ledger = openSimLedger()
  const at = (ms: number, act: () => void): void => agenda.add(msOf(Math.max(now(), Math.round(ms))), act)
  return {
    plan,
    random,
    ledger,
    now,
    at,
    after: (ms, act) => at(now() + ms, act),
    afterPaced(ms, livePace, act) {
      // A wait that ends in live time is shortened from its start on. Live time would otherwise begin with a silence.
      const slow = Math.min(ms, Math.max(0, plan.liveFrom - now()))
      at(now() + slow + (ms - slow) / livePace, act)
    },
    publish: (draft) => publish(ledger, random, draft),
    pace: () => busyness(now()) * growth(now() - plan.from),
    isLive: () => now() >= plan.liveFrom,
  }
}

function importDraftOf(number: number, now: Ms, draft: SimDraft, random: Random): ImportDraft {
  const { type, kind, contestId, kots, paid, details } = draft
  return {
    ref: refOf(number),
    at: formatAt(now),
    type,
    kind,
    ...(contestId === undefined ? {} : { contestId }),
    ...(kots === undefined ? {} : { kots: formatAmount(billionths(kots)) }),
    ...(paid === true ? { tx: txOf(random) } : {}),
    ...(paid === 'fails' ? { tx: failingTxOf(random) } : {}),
    ...(details === undefined ? {} : { details }),
  }
}

/** Posts the amount of a draft to the ledger. `cancelDraft` posts that of a correction. */
function post(ledger: SimLedger, draft: SimDraft): void {
  const { type, kind, contestId, kots, paid } = draft
  if (kots === undefined || type === 'correction' || paid === 'fails') return
  const posting = ruleOf(type, kind)?.posting
  if (posting === undefined) return
  const account = (name: string): string => accountOf(name, contestId, kind)
  ledger.move(account(posting.from), account(posting.to), kots)
}

/** Name of an account: there is a pool for each contest, and an unredeemed account for each contest and kind. */
export function accountOf(name: string, contestId: number | undefined, kind: string): string {
  if (name === 'pool') return `pool:${contestId}`
  return name === 'unredeemed' ? `unredeemed:${contestId}:${kind}` : name
}
