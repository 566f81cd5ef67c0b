import type { MirrorCommit } from '../live/mirror-store.ts'
import type { MirrorState } from '../mirror-watch.ts'
import type { MirrorSettings } from '../mirror-settings.ts'
import type { Contradicted } from '../proof/contradiction.ts'

/** Start-up settings of the thread that follows the origin. */
export type MirrorThreadSettings = Omit<MirrorSettings, 'now' | 'around'> &
  Readonly<{
    /** Shared memory of the head cell, and of the questions for the head of the whole log. */
    head: SharedArrayBuffer
    barrier: SharedArrayBuffer
  }>

/** Messages of the thread to the main thread. `state` comes first, when the store is open. */
export type FromMirror =
  | Readonly<{ is: 'state'; state: MirrorState }>
  | Readonly<{ is: 'committed'; commit: MirrorCommit }>
  | Readonly<{ is: 'fault'; reason: string | null }>
  | Readonly<{ is: 'contradicted'; found: Contradicted }>
  | Readonly<{ is: 'broken'; reason: string }>

/**
 * Messages of the main thread to the thread. `close`: it ends. `shown`: a caller has submitted a checkpoint that seems
 * to contradict the mirror.
 */
export type ToMirror = Readonly<{ is: 'close' }> | Readonly<{ is: 'shown'; note: string }>
