import type { HeldDraft, SettledDraft } from '../log/held/held-draft.ts'
import type { HeldTables } from '../log/held/held-tables.ts'
import type { Draft } from '../protocol/draft.ts'
import type { Ms } from '../protocol/moment.ts'
import type { ContestId, Seq } from '../protocol/seq.ts'
import { canonicalTx } from '../protocol/tx.ts'

/** Held drafts in all, at most. They are all in memory. */
export const HELD_DRAFTS_MAX = 50_000

/** Contest of a draft; null for drafts of no contest, which are one group. */
export type HeldGroup = ContestId | null

/** The held drafts in memory, and their tables. Changes belong to the transaction that the appender has begun. */
export type HeldDrafts = Readonly<{
  size(): number
  find(ref: string): HeldDraft | undefined
  /** The held draft with this number in the order of acceptance. */
  numbered(id: number): HeldDraft | undefined
  /** The draft with this ref that will never be published. */
  settled(ref: string): SettledDraft | undefined
  /** All held drafts, or those of a group, in order of acceptance. */
  all(): Iterable<HeldDraft>
  inGroup(group: HeldGroup): Iterable<HeldDraft>
  /** Held drafts that name a transaction, in either case of hex digits, in order of acceptance. */
  naming(tx: string): readonly HeldDraft[]
  has(group: HeldGroup): boolean
  /** Whether a draft of the group waits for no word of the chain. */
  hasReady(group: HeldGroup): boolean
  readyGroups(): readonly HeldGroup[]
  /** Groups with a ready draft that events of other groups can let go: it takes from the treasury, or restates. */
  dependentGroups(): readonly HeldGroup[]
  /** Holds a draft of the present request. `keep` writes it, `drop` forgets it. */
  hold(draft: Draft, ref: string, chain: 'asked' | 'none', acceptedAt: Ms): HeldDraft
  keep(): void
  drop(): void
  change(held: HeldDraft): void
  /** Removes a draft that was published. */
  published(held: HeldDraft, seq: Seq, at: Ms): void
  /** Removes a draft that will never be published. */
  settle(held: HeldDraft, end: Pick<SettledDraft, 'state' | 'settledAt' | 'place' | 'reason'>): void
  /** Holds a draft that another node has held, with its number. */
  add(held: HeldDraft): void
  /** Removes a draft that another node has published. */
  remove(held: HeldDraft): void
  /** Id of the blockchain that has settled drafts of this log; null before the first one. */
  chain(): string | null
  keepChain(id: string): void
  /** Notes that an event was published on the operator's word. */
  vouch(seq: Seq, reason: string, at: Ms): void
  /**
   * Undoes changes in memory, after a rollback: forgets the drafts `added`, and holds those of `before` as they were. It is
   * much faster than reading the tables again.
   */
  restore(added: Iterable<HeldDraft>, before: Iterable<HeldDraft>): void
  /** Reads the tables again, after a rollback. */
  reload(): void
}>

type Group = { readonly drafts: Map<number, HeldDraft>; ready: number; dependent: number }

/** Everything in memory. Maps iterate in order of acceptance. */
type State = {
  readonly byRef: Map<string, HeldDraft>
  readonly byId: Map<number, HeldDraft>
  readonly groups: Map<HeldGroup, Group>
  /** Drafts of each transaction, by its canonical text. */
  readonly byTx: Map<string, Map<number, HeldDraft>>
  nextId: number
  /** Whether any draft was settled. Most logs have none, so most drafts cost no look-up. */
  anySettled: boolean
}

export function openHeldDrafts(tables: HeldTables, asksChain: boolean): HeldDrafts {
  let state = load(tables, asksChain)
  /** Drafts of the present request. */
  let unkept: HeldDraft[] = []

  function remove(held: HeldDraft): void {
    forget(state, held)
    tables.remove(held.id)
  }

  return {
    size: () => state.byRef.size,
    find: (ref) => state.byRef.get(ref),
    numbered: (id) => state.byId.get(id),
    settled: (ref) => (state.anySettled ? tables.settled(ref) : undefined),
    all: () => state.byRef.values(),
    inGroup: (group) => state.groups.get(group)?.drafts.values() ?? [],
    naming: (tx) => [...(state.byTx.get(canonicalTx(tx))?.values() ?? [])],
    has: (group) => state.groups.has(group),
    hasReady: (group) => (state.groups.get(group)?.ready ?? 0) > 0,
    readyGroups: () => [...state.groups].flatMap(([group, { ready }]) => (ready > 0 ? [group] : [])),
    dependentGroups: () =>
      [...state.groups].flatMap(([group, { dependent }]) => (dependent > 0 ? [group] : [])),
    hold(draft, ref, chain, acceptedAt) {
      const held = { id: state.nextId++, ref, draft, acceptedAt, chain, ...NEWLY_HELD }
      put(state, held)
      unkept.push(held)
      return held
    },
    keep() {
      for (const held of unkept) tables.add(held)
      unkept = []
    },
    drop() {
      for (const held of unkept) forget(state, held)
      unkept = []
    },
    change(held) {
      put(state, held)
      tables.change(held)
    },
    published(held, seq, at) {
      remove(held)
      if (held.vouch !== null) tables.vouch(seq, held.vouch, at)
    },
    settle(held, end) {
      remove(held)
      const { id, ref, draft, acceptedAt } = held
      tables.settle({ id, ref, draft, acceptedAt, ...end })
      state.anySettled = true
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
    restore(added, before) {
      for (const held of added) forget(state, held)
      state = { ...restored(state, [...before]), nextId: tables.nextId(), anySettled: tables.anySettled() }
    },
    reload() {
      state = load(tables, asksChain)
      unkept = []
    },
  }
}

function load(tables: HeldTables, asksChain: boolean): State {
  const state = { ...noDrafts(), nextId: tables.nextId(), anySettled: tables.anySettled() }
  for (const held of tables.all()) put(state, asAsked(held, asksChain))
  return state
}

const NEWLY_HELD = { place: null, settledAt: null, vouch: null, reason: null } as const

type Maps = Omit<State, 'nextId' | 'anySettled'>

function noDrafts(): Maps {
  return { byRef: new Map(), byId: new Map(), groups: new Map(), byTx: new Map() }
}

/** The maps with these drafts as they are given. Maps with a draft that was gone are built again, in order. */
function restored(maps: Maps, before: readonly HeldDraft[]): Maps {
  if (before.every(({ id }) => maps.byId.has(id))) {
    for (const held of before) put(maps, held)
    return maps
  }
  const drafts = new Map(maps.byId)
  for (const held of before) drafts.set(held.id, held)
  const built = noDrafts()
  for (const held of [...drafts.values()].toSorted((a, b) => a.id - b.id)) put(built, held)
  return built
}

/** A transaction that was accepted while nobody asked the chain is asked about now. */
function asAsked(held: HeldDraft, asksChain: boolean): HeldDraft {
  return asksChain && held.chain === 'none' && held.draft.tx !== null ? { ...held, chain: 'asked' } : held
}

/** Adds a held draft, or replaces it in its place. */
function put({ byRef, byId, groups, byTx }: Maps, held: HeldDraft): void {
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

function forget({ byRef, byId, groups, byTx }: Maps, held: HeldDraft): void {
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

/** Whether a held draft waits for no word of the chain, so that only the books and its contest decide. */
export function isReady({ chain }: HeldDraft): boolean {
  return chain !== 'asked'
}

/** Counts a draft in its group, or takes it away. Drafts of `dependentGroups` are counted too. */
function countReady(group: Group, held: HeldDraft | undefined, by: 1 | -1): void {
  if (held === undefined || !isReady(held)) return
  const { contestId, type, details } = held.draft
  group.ready += by
  if (contestId === null || type === 'pool' || details?.restates !== undefined) group.dependent += by
}
