import type { ContestOutcome, ContestStatus, UnpaidStatus } from '../../protocol/enumerations.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import { type Html, html } from './html.ts'
import { capitalized } from './prose.ts'

/** Words for a kind of prize: its winners, and one winner if that needs another word. */
type KindWords = Readonly<{ who: string; one?: string }>

// Maps and not objects, because an operator may name a kind `constructor`, which every object has.

/** Kinds of prizes with words of their own. The operator names kinds, so a page shows others unchanged. */
const KINDS: ReadonlyMap<string, KindWords> = wordsByKind<KindWords>({
  winner: { who: 'the winner' },
  runner_up: { who: 'runners-up', one: 'a runner-up' },
  second: { who: 'the second' },
  third: { who: 'the third' },
  voter_share: { who: 'voters', one: 'a voter' },
  daily: { who: 'winners of the day', one: 'a winner of the day' },
  lucky_draw: { who: 'the lucky draw', one: 'a winner of the lucky draw' },
  refund: { who: 'players', one: 'a player' },
  loyalty: { who: 'loyal players' },
  play_share: { who: 'a share of play' },
  top_up: { who: 'the treasury' },
  sponsor: { who: 'sponsors', one: 'a sponsor' },
  returned: { who: 'the treasury' },
  platform_income: { who: 'platform income' },
})

function wordsByKind<Words>(words: Readonly<Record<string, Words>>): ReadonlyMap<string, Words> {
  return new Map(Object.entries(words))
}

/** Place of a kind in a list: the winner first, kinds without words last. */
export function kindPlace(kind: string): number {
  const place = [...KINDS.keys()].indexOf(kind)
  return place < 0 ? Infinity : place
}

/**
 * Winners of a kind of prize: `runners-up`; with `capital` at the start of a sentence. A kind without words is shown
 * without underscores.
 */
export function whoWins(kind: string, capital = false): Html {
  const words = KINDS.get(kind)?.who ?? plainWords(kind)
  return kindText(kind, capital ? capitalized(words) : words)
}

/** A kind as it is, without underscores: `entry`, `platform income`. */
export function plainKind(kind: string): Html {
  return html`${plainWords(kind)}`
}

function plainWords(kind: string): string {
  return kind.replaceAll(/_+/g, ' ').trimEnd()
}

/** Name of a kind at the start of a line, without an article: `Runners-up`. */
export function kindName(kind: string): Html {
  const words = KINDS.get(kind)?.who.replace(/^(?:the|a) /, '') ?? plainWords(kind)
  return kindText(kind, capitalized(words))
}

/** One winner of a kind of prize: `a runner-up`; with `capital` at the start of a line. */
export function onePaid(kind: string, capital = false): Html {
  const own = KINDS.get(kind)
  const words = own?.one ?? own?.who ?? plainWords(kind)
  return kindText(kind, capital ? capitalized(words) : words)
}

/** Names of additions to a pool, and of payments from it that are not prizes, by kind. */
const POOL_KINDS = wordsByKind({
  play_share: 'From what was played',
  top_up: 'Topped up by the platform',
  returned: 'Returned to the treasury',
  refund: 'Given back to players',
})

/** Name of an addition to a pool or a payment from it, at the start of a line. */
export function poolKindName(kind: string): Html {
  const words = POOL_KINDS.get(kind)
  return words === undefined ? kindName(kind) : kindText(kind, words)
}

/** Words instead of a value of an answer. Checks read the value from the attribute and compare it with the words. */
function kindText(kind: string, words: string): Html {
  return html`<span data-kind="${kind}">${words}</span>`
}

/** States and outcomes of contests, and states of unpaid prizes, in words. */
const STATES: Readonly<Record<ContestStatus | ContestOutcome | UnpaidStatus, string>> = {
  upcoming: 'to come',
  running: 'running',
  paying: 'paying',
  paid: 'paid in full',
  cancelled: 'cancelled',
  owing: 'prizes owed',
  lapsed: 'prizes never claimed',
  locked: 'locked',
  in_review: 'in review',
  awaiting_claim: 'to be claimed',
  payable: 'payable',
  overpaid: 'overpaid',
}

type State = keyof typeof STATES

/** Words for a state, as plain text. */
export function stateWords(state: State): string {
  return STATES[state]
}

/** Whether an unpaid prize waits for a date. */
export function waitsForDate({ status }: Readonly<{ status: UnpaidStatus }>): boolean {
  return status === 'locked' || status === 'in_review'
}

/** A state in a sentence, in words of the page. */
export function stateInWords(state: State, words: string = STATES[state]): Html {
  return html`<span data-state="${state}">${words}</span>`
}

/** Chip of a state: a shape and a word, never only a colour. */
export function stateChip(state: State): Html {
  return html`<span class="chip ${state}" data-state="${state}">${STATES[state]}</span>`
}

/** Outcome of a contest, or its status while it has none. */
export function contestState({ outcome, status }: Pick<ContestWire, 'outcome' | 'status'>): State {
  return outcome ?? status
}
