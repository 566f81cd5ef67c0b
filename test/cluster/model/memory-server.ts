import type { Random } from '../../../sim/random.ts'
import {
  type Look,
  LOOK_ROWS_MAX,
  SILENCE_MS_MAX,
  type TableRow,
} from '../../../src/cluster/table/log-table.ts'
import type { ModelClock } from '../../stage/virtual-clock.ts'

/** A process of the server for one session. `nonce` is its `daybook.session`. */
export type Backend = { isAlive: boolean; nonce: number; heardMs: number }

type StoredRow = TableRow & { isFlushed: boolean; isCopied: boolean }

/** An insertion that waits for the standby. */
type Wait = Readonly<{ row: StoredRow; end(): void }>

/** The arguments of a look. */
type LookAsked = Readonly<{ from: number; bytesMax: number; applied: number }>

/**
 * PostgreSQL in memory, in virtual time: a primary with a synchronous standby and an asynchronous one. A row is visible
 * when its session has ended its wait for the synchronous standby, and durable when that standby has it.
 */
export type MemoryServer = Readonly<{
  timeline(): number
  hasStandby(): boolean
  rows(): readonly TableRow[]
  look(id: object, asked: LookAsked): Look
  /** Notes the place that a connection shows; null when it is closed. */
  show(id: object, place: number | null): void
  newBackend(): Backend
  /** Takes the lock, and sets the nonce. Null when another session has it. */
  takeLock(own: Backend, nonce: number): Backend | null
  isAlive(backend: Backend): boolean
  /** Inserts under the fence. Undefined when no row is inserted; otherwise whether the standby has it, after the wait. */
  insert(backend: Backend, nonce: number, row: TableRow): Promise<boolean> | undefined
  /** Commits something that the standby has. Returns the newest place before it; null when no standby confirms it. */
  barrier(): number | null
  end(backend: Backend): void
  setStandby(isConnected: boolean): void
  releaseWaits(): void
  failover(to: 'sync' | 'async'): void
  loseTail(count: number): readonly TableRow[]
  /** Has other rows from now on, as another database does. */
  replace(rows: readonly TableRow[]): void
  setPooled(isPooled: boolean): void
  /** Ends the sessions that hold the lock. */
  endSessions(): void
}>

/** Time in which the asynchronous standby may lack a row. */
const COPY_MS = 1_500

export type ServerParts = Readonly<{
  clock: ModelClock
  random: Random
  /** The row with which the log begins. */
  first: Uint8Array
}>

type ServerState = {
  visible: StoredRow[]
  waits: readonly Wait[]
  hasStandby: boolean
  timeline: number
  isPooled: boolean
  /** The one backend of a pooler. */
  pool: Backend
  /** Backends that hold the lock. */
  readonly holders: Set<Backend>
  readonly shown: Map<object, number>
}

const poolBackend = (): Backend => ({ isAlive: true, nonce: 0, heardMs: 0 })

export function openMemoryServer(parts: ServerParts): MemoryServer {
  const { clock, first } = parts
  const state: ServerState = {
    visible: [{ place: 1, bytes: first, isFlushed: true, isCopied: true }],
    waits: [],
    hasStandby: true,
    timeline: 1,
    isPooled: false,
    pool: poolBackend(),
    holders: new Set(),
    shown: new Map(),
  }
  return {
    timeline: () => state.timeline,
    hasStandby: () => state.hasStandby,
    rows: () => state.visible,
    look: (id, asked) => look(state, clock, id, asked),
    show: (id, place) => void (place === null ? state.shown.delete(id) : state.shown.set(id, place)),
    newBackend: () => ({ isAlive: true, nonce: 0, heardMs: clock.now() }),
    takeLock(own, nonce) {
      endSilent(state, clock)
      if (!own.isAlive || (!state.isPooled && state.holders.size > 0)) return null
      const backend = state.isPooled ? state.pool : own
      Object.assign(backend, { nonce, heardMs: clock.now() })
      state.holders.add(backend)
      return backend
    },
    isAlive(backend) {
      endSilent(state, clock)
      return backend.isAlive
    },
    insert(backend, nonce, { place, bytes }) {
      // The row before is visible to the statement only when its own wait has ended.
      const isNext = place === state.visible.length + 1 && state.waits.length === 0
      if (backend.nonce !== nonce || !isNext) return undefined
      return commit(state, parts, { place, bytes, isFlushed: false, isCopied: false })
    },
    barrier() {
      const last = state.visible.length
      if (state.hasStandby) flush(state)
      return state.hasStandby ? last : null
    },
    end: (backend) => end(state, backend),
    setStandby(isConnected) {
      state.hasStandby = isConnected
      if (isConnected) flush(state)
    },
    releaseWaits: () => endWaits(state),
    failover(to) {
      state.timeline += 1
      for (const backend of state.holders) end(state, backend)
      const lost = state.visible.findIndex((row) => !(to === 'sync' ? row.isFlushed : row.isCopied))
      if (lost >= 0) state.visible = state.visible.slice(0, lost)
      state.waits = []
      state.hasStandby = true
      flush(state)
    },
    loseTail(count) {
      // A restore ends all sessions, and with them what waits.
      state.waits = []
      return state.visible.splice(Math.max(1, state.visible.length - count))
    },
    replace: (rows) =>
      void (state.visible = rows.map((row) => ({ ...row, isFlushed: true, isCopied: true }))),
    endSessions() {
      for (const backend of state.holders) end(state, backend)
    },
    setPooled(isPooled) {
      state.isPooled = isPooled
      const backends = [...state.holders, state.pool]
      state.pool = poolBackend()
      for (const backend of backends) end(state, backend)
    },
  }
}

function end(state: ServerState, backend: Backend): void {
  // The pooler keeps its own connection.
  if (backend !== state.pool) backend.isAlive = false
  state.holders.delete(backend)
}

/** PostgreSQL ends silent sessions, but none that waits for a standby. */
function endSilent(state: ServerState, clock: ModelClock): void {
  if (state.isPooled || state.waits.length > 0) return
  for (const backend of state.holders) if (clock.now() - backend.heardMs > SILENCE_MS_MAX) end(state, backend)
}

function endWaits(state: ServerState): void {
  const ended = state.waits
  state.waits = []
  for (const { end: done } of ended) done()
}

function flush(state: ServerState): void {
  for (const row of state.visible) row.isFlushed = true
  for (const { row } of state.waits) row.isFlushed = true
  endWaits(state)
}

async function commit(state: ServerState, { clock, random }: ServerParts, row: StoredRow): Promise<boolean> {
  const here = state.timeline
  const show = (): void => {
    if (here !== state.timeline) return
    state.visible.push(row)
    void clock.sleep(COPY_MS * random.next()).then(() => void (row.isCopied = true))
  }
  if (state.hasStandby) {
    row.isFlushed = true
    show()
    return true
  }
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const done = (): void => {
    show()
    resolve(row.isFlushed)
  }
  state.waits = [...state.waits, { row, end: done }]
  return await promise
}

function look(
  state: ServerState,
  clock: ModelClock,
  id: object,
  { from, bytesMax, applied }: LookAsked,
): Look {
  state.shown.set(id, applied)
  endSilent(state, clock)
  if (state.hasStandby) flush(state)
  let size = 0
  const rows = state.visible.slice(from - 1, from - 1 + LOOK_ROWS_MAX).filter(({ bytes }, index) => {
    size += bytes.length
    return index === 0 || size <= bytesMax
  })
  const doubtful = rows.findIndex(({ isFlushed }) => !isFlushed)
  const proved = rows.slice(0, doubtful < 0 ? rows.length : doubtful)
  const others = [...state.shown].flatMap(([of, place]) => (of === id ? [] : [place]))
  return {
    server: { systemId: '1', timeline: state.timeline },
    rows: proved.map(({ place, bytes }) => ({ place, bytes })),
    last: state.visible.length,
    isProved: state.hasStandby,
    isLed: state.holders.size > 0,
    shown: Math.max(0, ...others),
  }
}
