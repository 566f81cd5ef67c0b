import {
  allocateAllowance,
  type AllowanceMemory,
  type AllowanceScope,
} from '../../serve/allowance/allowance.ts'
import {
  allocateCallerSlots,
  type CallerSlotsMemory,
  CONNECTIONS_PER_CALLER,
  STREAMS_PER_CALLER,
} from '../../serve/allowance/caller-slots.ts'
import {
  allocateExportPlaces,
  type ExportPlacesMemory,
  EXPORTS_PER_CALLER,
  EXPORTS_PER_NODE,
} from '../../serve/allowance/export-places.ts'
import { allocateReport } from '../../serve/following/report-cell.ts'
import { openBarrierCell } from '../../serve/following/barrier-cell.ts'
import { ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'
import { BEHIND_WAITS_PER_CALLER, BEHIND_WAITS_PER_NODE } from '../../serve/following/head-waits.ts'
import type { Problem } from '../../protocol/problem.ts'

/**
 * Memory shared by all serving threads: the head, the flags for a wrong log and a stop, the allowances, and the counts
 * of streams, exports and connections.
 */
export type FrontMemory = Readonly<{
  head: SharedArrayBuffer
  /** Flag: 1 when nothing of the log may be shown any more. */
  wrong: SharedArrayBuffer
  /** One number: 1 once the service stops. */
  stopping: SharedArrayBuffer
  /** Null if no limit is set. */
  allowances: Readonly<Record<AllowanceScope, AllowanceMemory>> | null
  /** Report of a mirror (`ReportCell`); empty on a node that is no mirror. */
  mirror: SharedArrayBuffer
  /** Report of a node's position in its log (`ReportCell`); empty on a single node. */
  following: SharedArrayBuffer
  /** Questions for the head of the whole log (`BarrierCell`); unused on a single node. */
  barrier: SharedArrayBuffer
  /** Requests that wait for a seq that this node lacks. */
  waits: CallerSlotsMemory
  /** Streams that callers have open. */
  slots: CallerSlotsMemory
  /** Connections that addresses have open. */
  connections: CallerSlotsMemory
  /** Whole CSV files that are being sent. */
  exports: ExportPlacesMemory
}>

/** Tile requests of one caller in a window. Tiles are many, small and immutable. */
const TILES_PER_WINDOW = 600
/** Callers whose requests for tiles are remembered. */
const TILES_KEYS = 20_000
/** Page requests of one caller in a window, enough for all people who share an address. */
const PAGES_PER_WINDOW = 600
/** Callers whose requests for pages are remembered. */
const PAGES_KEYS = 20_000

/** Sets the flag that the log is wrong, for all threads. */
export function sayWrong({ wrong }: FrontMemory): void {
  Atomics.store(new Int32Array(wrong), 0, 1)
}

/** Whether the log is wrong. */
export function isWrong({ wrong }: FrontMemory): boolean {
  return Atomics.load(new Int32Array(wrong), 0) === 1
}

/** Sets the flag for all threads that the service stops. Nothing new is answered from now on. */
export function sayStopping({ stopping }: FrontMemory): void {
  Atomics.store(new Int32Array(stopping), 0, 1)
}

/** Whether the service stops. */
export function isStopping({ stopping }: FrontMemory): boolean {
  return Atomics.load(new Int32Array(stopping), 0) === 1
}

/** Allocates the shared memory. `secret` must be random for each run. */
export function allocateFront(
  head: SharedArrayBuffer,
  settings: Readonly<{ rateLimit: number | null; streamsMax: number; connectionsMax: number }>,
  secret: string,
): FrontMemory {
  const windowMs = ALLOWANCE_WINDOW_MS
  const { rateLimit, streamsMax } = settings
  return {
    head,
    wrong: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    stopping: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    allowances:
      rateLimit === null
        ? null
        : {
            api: allocateAllowance({ name: 'default', requests: rateLimit, windowMs }, secret),
            tiles: allocateAllowance(
              { name: 'tiles', requests: TILES_PER_WINDOW, windowMs },
              secret,
              TILES_KEYS,
            ),
            pages: allocateAllowance(
              { name: 'pages', requests: PAGES_PER_WINDOW, windowMs },
              secret,
              PAGES_KEYS,
            ),
          },
    mirror: allocateReport(),
    following: allocateReport(),
    barrier: openBarrierCell().buffer,
    waits: allocateCallerSlots(
      { perCaller: BEHIND_WAITS_PER_CALLER, perNode: BEHIND_WAITS_PER_NODE },
      secret,
    ),
    slots: allocateCallerSlots({ perCaller: STREAMS_PER_CALLER, perNode: streamsMax }, secret),
    exports: allocateExportPlaces({ perCaller: EXPORTS_PER_CALLER, perNode: EXPORTS_PER_NODE }, secret),
    connections: allocateCallerSlots(
      { perCaller: CONNECTIONS_PER_CALLER, perNode: settings.connectionsMax },
      secret,
    ),
  }
}

/** Seconds after which a caller may retry on a stopping node: it is then back, or another node has taken over. */
const STOPPING_RETRY_SECONDS = 5

const LOG_IS_WRONG: Problem = {
  code: 'not-ready',
  detail: 'This node has found its copy of the log to be wrong, and shows nothing of it.',
}

const STOPPING: Problem = {
  code: 'not-ready',
  detail: 'This node is stopping. Ask again in a moment, on another connection.',
  retryAfterSeconds: STOPPING_RETRY_SECONDS,
}

/**
 * Opens the check whether a thread may show the log now. The problem is the reason why not; undefined means that it
 * may.
 */
export function openUnready(memory: FrontMemory): () => Problem | undefined {
  // Checked at each request, so the views are made once.
  const wrong = new Int32Array(memory.wrong)
  const stopping = new Int32Array(memory.stopping)
  return () => {
    if (Atomics.load(wrong, 0) === 1) return LOG_IS_WRONG
    return Atomics.load(stopping, 0) === 1 ? STOPPING : undefined
  }
}
