import type { Ms } from '../src/protocol/moment.ts'
import { formatAt, msOf } from '../src/protocol/moment.ts'
import type { EventType } from '../src/protocol/rules.ts'
import { billionths, formatAmount } from '../src/protocol/amount.ts'
import { ruleOf } from '../src/protocol/catalogue.ts'
import type { Agenda } from './agenda.ts'
import { agendaOf } from './agenda.ts'
import type { DraftDetails, ImportDraft } from './import-draft.ts'
import { refOf, txOf } from './import-draft.ts'
import type { Purse } from './purse.ts'
import { purseOf } from './purse.ts'
import type { Random } from './random.ts'
import { randomOf } from './random.ts'
import { busyness, growth } from './rhythm.ts'

/** What decides a pretend platform whole: the same plan gives the same drafts, for ever. */
export type Plan = Readonly<{
  seed: string
  /** The moment of the first draft. */
  from: Ms
  /** From here on plays are published in small totals, every few seconds, instead of large ones. */
  liveFrom: Ms
  /** How many drafts: 1 gives about 60,000 in three months. */
  scale: number
}>

/** What a theme of the simulation says; the world adds ref and moment and keeps the books. */
export type Utterance = Readonly<{
  type: EventType
  kind: string
  contestId?: number
  /** Billionths. */
  kots?: bigint
  /** Whether it names a transaction of its own. */
  paid?: boolean
  details?: DraftDetails
}>

/** The pretend platform as its themes see it. */
export type SimWorld = Readonly<{
  plan: Plan
  random: Random
  purse: Purse
  now(): Ms
  /** Has `act` happen at a moment; one that has passed means at once. */
  at(ms: number, act: () => void): void
  after(ms: number, act: () => void): void
  /** Like `after`, in time that passes `livePace` times faster once live time begins. */
  afterPaced(ms: number, livePace: number, act: () => void): void
  /** Publishes now and answers the draft's number, which is its seq in a log that holds nothing else. */
  say(utterance: Utterance): number
  /** How many times more happens than at the start on an average hour, the plan's scale left out. */
  pace(): number
  /** Whether plays are published in small totals. */
  isLive(): boolean
}>

/** One whole token, in billionths. */
export const TOKEN = 1_000_000_000n

/** The endless story of a platform whose themes `begin` starts; constant memory. */
export function* story(plan: Plan, begin: (world: SimWorld) => void): Generator<ImportDraft, undefined> {
  const agenda = agendaOf()
  const said: ImportDraft[] = []
  let now = plan.from
  let number = 0
  const say = (purse: Purse, random: Random, utterance: Utterance): number => {
    post(purse, utterance)
    said.push(draftOf(++number, now, utterance, random))
    return number
  }
  begin(worldOf(plan, agenda, () => now, say))
  for (;;) {
    const entry = agenda.next()
    if (entry === undefined) return undefined
    now = entry.at
    entry.act()
    yield* said
    said.length = 0
  }
}

type Say = (purse: Purse, random: Random, utterance: Utterance) => number

function worldOf(plan: Plan, agenda: Agenda, now: () => Ms, say: Say): SimWorld {
  const random = randomOf(`${plan.seed}/${plan.from}/${plan.scale}`)
  const purse = purseOf()
  const at = (ms: number, act: () => void): void => agenda.add(msOf(Math.max(now(), Math.round(ms))), act)
  return {
    plan,
    random,
    purse,
    now,
    at,
    after: (ms, act) => at(now() + ms, act),
    afterPaced(ms, livePace, act) {
      // A wait that began before live time is shortened from there on: else it would begin with a silence.
      const slow = Math.min(ms, Math.max(0, plan.liveFrom - now()))
      at(now() + slow + (ms - slow) / livePace, act)
    },
    say: (utterance) => say(purse, random, utterance),
    pace: () => busyness(now()) * growth(now() - plan.from),
    isLive: () => now() >= plan.liveFrom,
  }
}

function draftOf(number: number, now: Ms, utterance: Utterance, random: Random): ImportDraft {
  const { type, kind, contestId, kots, paid, details } = utterance
  return {
    ref: refOf(number),
    at: formatAt(now),
    type,
    kind,
    ...(contestId === undefined ? {} : { contestId }),
    ...(kots === undefined ? {} : { kots: formatAmount(billionths(kots)) }),
    ...(paid === true ? { tx: txOf(random) } : {}),
    ...(details === undefined ? {} : { details }),
  }
}

/** Moves what an utterance says; what a correction reverses, `correct` moves itself. */
function post(purse: Purse, utterance: Utterance): void {
  const { type, kind, contestId, kots } = utterance
  if (kots === undefined || type === 'correction') return
  const posting = ruleOf(type, kind)?.posting
  if (posting === undefined) return
  const account = (name: string): string => accountOf(name, contestId, kind)
  purse.move(account(posting.from), account(posting.to), kots)
}

/** The account's own name: a pool exists per contest, what is unredeemed per contest and kind. */
export function accountOf(name: string, contestId: number | undefined, kind: string): string {
  if (name === 'pool') return `pool:${contestId}`
  return name === 'unredeemed' ? `unredeemed:${contestId}:${kind}` : name
}
