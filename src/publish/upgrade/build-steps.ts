import { BUILDING_TXS, EVENT_INDEXES } from '../../log/store/store-schema.ts'
import { StoreError } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import type { BuildingStore, BuildState } from './building-store.ts'
import { copyRefsAfter, copyRefsOf, copyTables, lastRef, SLICE_REFS } from './carried-tables.ts'
import type { CarryingAppender } from './carrying-appender.ts'
import type { OldStore } from './old-store.ts'
import { sameEvents } from './upgrade-proof.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'

/** Events of one step of the comparison. */
const COMPARED_EVENTS = 50_000

/** Progress of a build: events, or refs while these are copied. */
export type BuildProgress = Readonly<{
  stage: Exclude<BuildState['stage'], 'following'>
  done: number
  total: number
}>

type Steps = Generator<BuildProgress, void>

/**
 * Builds the new store up to an event that was the newest one a moment ago, from where it stands. Each step is one durable
 * transaction. Yields after each, and may be left there.
 */
export function* buildSteps(store: BuildingStore, old: OldStore, appender: CarryingAppender): Steps {
  if (store.state().stage === 'events') yield* carryEvents(store, old, appender)
  // No event is carried over in the next stages, also when they are interrupted, so all slices of refs end at one seq.
  const head = appender.head()
  if (store.state().stage === 'refs') yield* copyRefs(store, head)
  if (store.state().stage === 'indexes') {
    yield { stage: 'indexes', done: 0, total: head }
    inTransaction(store.db, () => {
      store.db.exec(`${BUILDING_TXS.sort}; ${EVENT_INDEXES.create}`)
      store.note({ ...store.state(), stage: 'comparing' })
    })
  }
  if (store.state().stage === 'comparing') yield* compareEvents(store, head)
}

function* carryEvents(store: BuildingStore, old: OldStore, appender: CarryingAppender): Steps {
  while (appender.carrySlice()) yield { stage: 'events', done: appender.head(), total: headOf(old.db) }
  inTransaction(store.db, () => store.note({ ...store.state(), stage: 'refs' }))
}

function* copyRefs(store: BuildingStore, head: number): Steps {
  let after: string | null = lastRef(store.db)
  for (let copied = 0; after !== null; copied += SLICE_REFS) {
    yield { stage: 'refs', done: Math.min(copied, head), total: head }
    const from: string = after
    after = store.besideOld(() => copyRefsAfter(store.db, from, head))
  }
  inTransaction(store.db, () => store.note({ ...store.state(), stage: 'indexes', refsTo: head }))
}

/** Compares the events of the two stores, up to the newest. That one is left out: the service may sign it again. */
function* compareEvents(store: BuildingStore, head: number): Steps {
  const end = Math.max(0, head - 1)
  for (let at = store.state().comparedTo, isLeft = true; isLeft;) {
    yield { stage: 'comparing', done: at, total: head }
    const upTo = Math.min(at + COMPARED_EVENTS, end)
    isLeft = upTo < end
    store.besideOld(() => {
      if (sameEvents(store.db, at, upTo) !== upTo - at) throw new StoreError(differs(at, upTo))
      store.note({ ...store.state(), comparedTo: upTo, stage: isLeft ? 'comparing' : 'following' })
    })
    at = upTo
  }
}

/** Carries over what was published since. */
export function followLog(appender: CarryingAppender): void {
  while (appender.carrySlice());
}

/** Completes the new store, while nobody publishes: with the last events, their refs, and the small tables. */
export function catchUp(store: BuildingStore, old: OldStore, appender: CarryingAppender): void {
  followLog(appender)
  store.besideOld(() => {
    const state = store.state()
    const head = appender.head()
    copyRefsOf(store.db, state.refsTo, head)
    copyTables(store.db, old.schema)
    store.note({ ...state, refsTo: head })
  })
}

function differs(after: number, upTo: number): string {
  return `the new store differs from the old one in seqs ${after + 1} to ${upTo}, so nothing was upgraded`
}
