import type { DatabaseSync } from 'node:sqlite'
import type { EndedDraft, HeldDraft } from '../log/held/held-draft.ts'
import { type HeldTables, openHeldTables } from '../log/held/held-tables.ts'
import type { Draft } from '../protocol/draft.ts'
import type { Ms } from '../protocol/moment.ts'
import type { ContestId, Seq } from '../protocol/seq.ts'
import { canonicalTx } from '../protocol/tx.ts'

/** Most held drafts. All of them are in memory. */
export const HELD_DRAFTS_MAX = 50_000

/** Contest of a draft. Null for drafts without a contest, which are one group. */
export type HeldGroup = ContestId | null

/** Held drafts of a group by id, in order of acceptance. */
type Group = {
  readonly drafts: Map<number, HeldDraft>
  /** Number of drafts that do not wait for the chain. */
  ready: number
  /** Number of ready drafts that events of other groups can release: drafts that take from the treasury, or restate. */
  dependent: number
}

/** Held drafts in memory, and their tables. Changes belong to the transaction that the appender has begun. */
export type HeldDrafts = Readonly<{
  /** Whether a blockchain confirms transactions. Otherwise the operator vouches for them. */
  asksChain: boolean
  size(): number
  find(ref: string): HeldDraft | undefined
  /** Held draft with this id, its number in the order of acceptance. */
  numbered(id: number): HeldDraft | undefined
  /** Draft with this ref that will never be published. */
  ended(ref: string): EndedDraft | undefined
  /** Failed or dropped drafts after the id `after`, in order of acceptance. */
  endedAfter: HeldTables['endedAfter']
  /** All held drafts, in order of acceptance. */
  all(): Iterable<HeldDraft>
  groups(): ReadonlyMap<HeldGroup, Readonly<Group>>
  /** Held drafts that name a transaction, in either case of hex digits, in order of acceptance. */
  naming(tx: string): readonly HeldDraft[]
  /** Holds a draft of the current request. `write` writes it to the tables, `forget` undoes it. */
  hold(draft: Draft, ref: string, acceptedAt: Ms): HeldDraft
  write(): void
  forget(): void
  change(held: HeldDraft): void
  /** Removes a draft that was published. */
  published(held: HeldDraft, seq: Seq, at: Ms): void
  /** Removes a draft that will never be published. */
  end(held: HeldDraft, end: Pick<EndedDraft, 'state' | 'settledAt' | 'place' | 'reason'>): void
  /** Holds a draft that another node has held, with its id. */
  add(held: HeldDraft): void
  /** Removes a draft that another node has published. */
  remove(held: HeldDraft): void
  /** Id of the blockchain that has settled drafts of this log; null before the first one. */
  chain(): string | null
  keepChain(id: string): void
  /** Records that an event was published because the operator vouched for it. */
  vouch(seq: Seq, reason: string, at: Ms): void
  /** Reads the tables again, after a rollback. */
  reload(): void
}>

/** Everything in memory. Maps iterate in order of acceptance. */
type State = {
  readonly byRef: Map<string, HeldDraft>
  readonly byId: Map<number, HeldDraft>
  readonly groups: Map<HeldGroup, Group>
  /** Drafts of each transaction, by its canonical text. */
  readonly byTx: Map<string, Map<number, HeldDraft>>
  nextId: number
  /** Whether any draft has ended. In most logs none has, so most drafts need no look-up. */
  anyEnded: boolean
}

/** Opens the held drafts of a store. Reads all of them into memory. */
export function openHeldDrafts(db: DatabaseSync, asksChain: boolean): HeldDrafts {
  const tables = openHeldTables(db)
  let state = load(tables, asksChain)
  /** Drafts of the current request. */
  let unwritten: HeldDraft[] = []

  function remove(held: HeldDraft): void {
    takeOut(state, held)
    tables.remove(held.id)
  }

  return {
    asksChain,
    size: () => state.byRef.size,
    find: (ref) => state.byRef.get(ref),
    numbered: (id) => state.byId.get(id),
    ended: (ref) => (state.anyEnded ? tables.ended(ref) : undefined),
    endedAfter: tables.endedAfter,
    all: () => state.byRef.values(),
    groups: () => state.groups,
    naming: (tx) => [...(state.byTx.get(canonicalTx(tx))?.values() ?? [])],
    hold(draft, ref, acceptedAt) {
      const chain = draft.tx !== null && asksChain ? 'asked' : 'none'
      const held = { id: state.nextId++, ref, draft, acceptedAt, chain, ...NEWLY_HELD } as const
      put(state, held)
      unwritten.push(held)
      return held
    },
    write() {
      for (const held of unwritten) tables.add(held)
      unwritten = []
    },
    forget() {
      for (const held of unwritten) takeOut(state, held)
      unwritten = []
    },
    change(held) {
      put(state, held)
      tables.change(held)
    },
    published(held, seq, at) {
      remove(held)
      if (held.vouch !== null) tables.vouch(seq, held.vouch, at)
    },
    end(held, end) {
      remove(held)
      const { id, ref, draft, acceptedAt } = held
      tables.end({ id, ref, draft, acceptedAt, ...end })
      state.anyEnded = true
    },
    add(held) {
      tables.add(held)
      put(state, asAsked(held, asksChain))
      state.nextId = Math.max(state.nextId, held.id + 1)
    },
    remove,
    vouch: tables.vouch,
    chain: tables.chain,
    keepChain: tables.keepChain,
    reload() {
      state = load(tables, asksChain)
      unwritten = []
    },
  }
}

function load(tables: HeldTables, asksChain: boolean): State {
  const state: State = {
    byRef: new Map(),
    byId: new Map(),
    groups: new Map(),
    byTx: new Map(),
    nextId: tables.nextId(),
    anyEnded: tables.anyEnded(),
  }
  for (const held of tables.all()) put(state, asAsked(held, asksChain))
  return state
}

const NEWLY_HELD = { place: null, settledAt: null, vouch: null, reason: null } as const

/** Asks the chain about a transaction that was accepted while no chain was asked. */
function asAsked(held: HeldDraft, asksChain: boolean): HeldDraft {
  return asksChain && held.chain === 'none' && held.draft.tx !== null ? { ...held, chain: 'asked' } : held
}

/** Adds a held draft, or replaces the one with the same id. */
function put({ byRef, byId, groups, byTx }: State, held: HeldDraft): void {
  const { contestId, tx } = held.draft
  const group = groups.get(contestId) ?? { drafts: new Map(), ready: 0, dependent: 0 }
  const before = group.drafts.get(held.id)
  countReady(group, before, -1)
  countReady(group, held, 1)
  group.drafts.set(held.id, held)
  groups.set(contestId, group)
  byRef.set(held.ref, held)
  byId.set(held.id, held)
  if (tx === null) return
  const key = canonicalTx(tx)
  const named = byTx.get(key) ?? new Map<number, HeldDraft>()
  byTx.set(key, named.set(held.id, held))
}

function takeOut({ byRef, byId, groups, byTx }: State, held: HeldDraft): void {
  const { contestId, tx } = held.draft
  byRef.delete(held.ref)
  byId.delete(held.id)
  const key = canonicalTx(tx ?? '')
  const named = byTx.get(key)
  named?.delete(held.id)
  if (named?.size === 0) byTx.delete(key)
  const group = groups.get(contestId)
  const before = group?.drafts.get(held.id)
  if (group === undefined || before === undefined) return
  group.drafts.delete(held.id)
  countReady(group, before, -1)
  if (group.drafts.size === 0) groups.delete(contestId)
}

/** Whether a held draft does not wait for the chain, so that only the books and its contest decide. */
export function isReady({ chain }: HeldDraft): boolean {
  return chain !== 'asked'
}

/** Adds a draft to the counts of its group, or subtracts it. */
function countReady(group: Group, held: HeldDraft | undefined, by: 1 | -1): void {
  if (held === undefined || !isReady(held)) return
  const { contestId, type, details } = held.draft
  group.ready += by
  if (contestId === null || type === 'pool' || details?.restates !== undefined) group.dependent += by
}
