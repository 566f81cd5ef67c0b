import type { HeadCell } from '../log/store/head-cell.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Finality } from '../protocol/resources.ts'
import type { Contradicted, MirrorSettings } from './mirror-settings.ts'

/** What a mirror knows about itself and its origin. */
export type MirrorState = Readonly<{
  originUrl: string
  /** Name of the log in its checkpoints. */
  origin: string
  /** Id of the log. */
  log: string
  /** Verifier keys by which the log is proved, and whether they were taken from the log itself at the first use. */
  pinned: readonly string[]
  pinnedOnFirstUse: boolean
  /** When the origin last showed a checkpoint that agrees with everything that the mirror has. Null before the first. */
  provedAt: Ms | null
  /** Newest seq that the origin has shown, proved or not. */
  originHead: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /** For how long the mirror has been behind, in milliseconds; 0 when it is not. */
  behindMs: number
  /** When the origin last answered. Null before the first answer. */
  lastContactAt: Ms | null
  /** Why the mirror cannot follow at present; null when it can. */
  fault: string | null
  /** The contradiction that has stopped the mirror for good; null while it follows. */
  contradicted: Contradicted | null
  /** The origin's word about its held drafts, and when it gave it. */
  held: Readonly<{ counts: Finality; toldAt: Ms }> | null
}>

/** Events that became visible in one commit. */
export type MirrorCommit = Readonly<{ events: number; seq: number; atMs: Ms | null }>

export type MirrorListeners = Readonly<{
  /** Called after each commit, when the head cell has moved. */
  onCommitted(commit: MirrorCommit): void
  /** Called when the fault changes. Null: the mirror follows again. */
  onFault(fault: string | null): void
}>

/** Follows a log over its public API into the store of a data directory. */
export type Mirroring = Disposable &
  Readonly<{
    /**
     * Follows until the signal. Resolves at a contradiction too: the mirror then follows no longer, and keeps what it has.
     * Failures of the network and of the origin are retried without end. Rejects when the store cannot be written.
     */
    run(signal: AbortSignal): Promise<Readonly<{ is: 'stopped' }> | Contradicted>
    state(): MirrorState
  }>

/** Opens the following of a mirror that `buildMirror` has made. Sends no request by itself. */
export function openMirroring(
  settings: MirrorSettings,
  cell: HeadCell,
  listeners: MirrorListeners,
): Mirroring {
  cell.move(cell.read())
  listeners.onFault('this version of the mirror does not follow yet')
  throw new Error(`${settings.url} cannot be followed yet`)
}
