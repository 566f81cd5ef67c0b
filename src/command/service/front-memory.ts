import type { AllowanceMemory } from '../../serve/allowance/allowance.ts'
import { allocateAllowance } from '../../serve/allowance/allowance.ts'
import type { AllowanceScope } from '../../serve/allowance/counters.ts'
import type { CallerSlotsMemory } from '../../serve/allowance/caller-slots.ts'
import {
  allocateCallerSlots,
  CONNECTIONS_PER_CALLER,
  STREAMS_PER_CALLER,
} from '../../serve/allowance/caller-slots.ts'
import { ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'

/**
 * What all threads that serve share: the head, whether the log has proved wrong or the service stops, what callers have
 * used, the streams that are open.
 */
export type FrontMemory = Readonly<{
  head: SharedArrayBuffer
  /** One number: 1 from the moment at which nothing of the log may be shown any more. */
  wrong: SharedArrayBuffer
  /** One number: 1 from the moment at which the service stops. */
  stopping: SharedArrayBuffer
  /** Null when no limit is set. */
  allowances: Readonly<Record<AllowanceScope, AllowanceMemory>> | null
  /** The streams that callers have open. */
  slots: CallerSlotsMemory
  /** The connections that addresses have open. */
  connections: CallerSlotsMemory
}>

/** Requests of one caller for tiles of the hash tree, which are many, small and immutable. */
const TILES_PER_WINDOW = 600
/** Callers whose use of tiles is remembered. */
const TILES_KEYS = 20_000
/** Pages and their other forms that one caller is given: more than people turn over who share an address. */
const PAGES_PER_WINDOW = 600
/** Callers whose use of pages is remembered. */
const PAGES_KEYS = 20_000

/** Tells all threads that the log has proved wrong. */
export function sayWrong({ wrong }: FrontMemory): void {
  Atomics.store(new Int32Array(wrong), 0, 1)
}

/** Whether the log has proved wrong. */
export function isWrong({ wrong }: FrontMemory): boolean {
  return Atomics.load(new Int32Array(wrong), 0) === 1
}

/** Tells all threads that the service stops: from now on nothing new is answered. */
export function sayStopping({ stopping }: FrontMemory): void {
  Atomics.store(new Int32Array(stopping), 0, 1)
}

/** Whether the service stops. */
export function isStopping({ stopping }: FrontMemory): boolean {
  return Atomics.load(new Int32Array(stopping), 0) === 1
}

/** Makes the memory, all of it at once; `secret` is random and of this process only. */
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
    slots: allocateCallerSlots({ perCaller: STREAMS_PER_CALLER, perNode: streamsMax }, secret),
    connections: allocateCallerSlots(
      { perCaller: CONNECTIONS_PER_CALLER, perNode: settings.connectionsMax },
      secret,
    ),
  }
}
