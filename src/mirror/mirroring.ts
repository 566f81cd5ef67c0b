import { rmSync } from 'node:fs'
import { backoffMs } from '../client/ask.ts'
import { ARCHIVE_EVENTS_MIN } from '../client/follow.ts'
import { DaybookError } from '../client/daybook-error.ts'
import type { HeadCell } from '../log/store/head-cell.ts'
import { isFull } from '../log/store/sqlite-error.ts'
import { StoreError } from '../log/store/store.ts'
import type { Ms } from '../protocol/moment.ts'
import { WrongError } from '../verify/reading/finding.ts'
import { downloadFolder } from './build-mirror.ts'
import { UnknownEventError } from './book/mirror-book.ts'
import { ContradictionError, keepEvidence } from './proof/contradiction.ts'
import type { FollowingParts } from './live/following.ts'
import { openFollowing } from './live/following.ts'
import type { HeldWord, MirrorCommit, MirrorStore } from './live/mirror-store.ts'
import { openMirrorStore } from './live/mirror-store.ts'
import type { MirrorSettings } from './mirror-settings.ts'
import type { Contradicted } from './proof/contradiction.ts'
import type { Origin } from './origin/open-origin.ts'
import { openOrigin } from './origin/open-origin.ts'

/** State of a mirror and of its origin. */
export type MirrorState = Readonly<{
  originUrl: string
  /** Name of the log in its checkpoints. */
  origin: string
  /** Id of the log. */
  log: string
  /** Verifier keys by which the log is proved, and whether they were taken from the log itself at the first use. */
  pinned: readonly string[]
  pinnedOnFirstUse: boolean
  /** Moment at which the origin last showed a checkpoint that agrees with the whole mirror. Null before the first. */
  provedAt: Ms | null
  /** Newest seq that the origin has shown, proved or not. */
  originHead: number
  /** Events that the origin has shown and the mirror has not proved. */
  behindEvents: number
  /** Time for which the mirror has been behind, in milliseconds; 0 when it is not. */
  behindMs: number
  /** Moment of the origin's last answer. Null before the first answer. */
  lastContactAt: Ms | null
  /** Reason why the mirror cannot follow at present; null when it can. */
  fault: string | null
  /** The contradiction that has stopped the mirror for good; null while it follows. */
  contradicted: Contradicted | null
  /** The origin's word about its held drafts, and when it gave it. */
  held: HeldWord | null
}>

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

/** Longest `Retry-After` of an origin that is obeyed, in milliseconds. */
const RETRY_AFTER_MS_MAX = 3_600_000
/** Failures after which the wait between two attempts no longer grows: it is 4 s at most, within the allowance. */
const ATTEMPTS_MAX = 3

/** Opens the following of a mirror that `buildMirror` has made. Sends no request by itself. */
export function openMirroring(
  settings: MirrorSettings,
  cell: HeadCell,
  listeners: MirrorListeners,
): Mirroring {
  const store = openMirrorStore(settings.dataDirectory, cell, listeners.onCommitted)
  const origin = openOrigin(settings.url, settings.around, () => watch.onContact())
  const watch = openWatch(settings, store, origin, listeners)
  origin.expectLog(store.identity.id)
  let failures = 0

  /** Tells a failure that may pass, and waits. Throws any other. */
  async function recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (!mayPass(error)) throw error
    failures = watch.isWell() ? 1 : failures + 1
    watch.onFault(faultOf(error))
    const asked = error instanceof DaybookError ? (error.retryAfterMs ?? 0) : 0
    const waitMs = backoffMs(Math.min(failures, ATTEMPTS_MAX), origin.around.random)
    await origin.around.sleep(Math.max(waitMs, Math.min(asked, RETRY_AFTER_MS_MAX)), signal)
  }

  return {
    async run(signal) {
      const folder = downloadFolder(settings.dataDirectory)
      // Files of a catch-up that was killed.
      rmSync(folder, { recursive: true, force: true })
      const { archiveEventsMin = ARCHIVE_EVENTS_MIN } = settings
      const following = openFollowing({ origin, store, folder, archiveEventsMin, signal, ...watch })
      for (;;) {
        try {
          await following.follow().catch((error: unknown) => recover(error, signal))
        } catch (error) {
          if (signal.aborted) return { is: 'stopped' }
          if (!(error instanceof ContradictionError)) throw error
          return watch.onContradiction(keepEvidence(settings.dataDirectory, error, settings.now()))
        }
      }
    },
    state: watch.state,
    [Symbol.dispose]: () => store[Symbol.dispose](),
  }
}

type Watch = Pick<FollowingParts, 'onOriginHead' | 'onProved' | 'onHeld'> &
  Readonly<{
    onContact(): void
    onFault(reason: string): void
    onContradiction(found: Contradicted): Contradicted
    /** Whether the mirror follows without a fault. */
    isWell(): boolean
    state(): MirrorState
  }>

/** Opens what a mirror knows about itself. */
function openWatch(
  settings: MirrorSettings,
  store: MirrorStore,
  origin: Origin,
  listeners: MirrorListeners,
): Watch {
  const head = (): number => store.book.head().seq
  const now = (): number => origin.around.now()
  let lastContactAt: Ms | null = null
  let provedAt: Ms | null = null
  let originHead = store.shownSeq()
  let behindSince: number | null = null
  let fault: string | null = null
  let contradicted: Contradicted | null = null
  let held = store.held()

  function tell(reason: string | null): void {
    if (fault === reason) return
    fault = reason
    listeners.onFault(reason)
  }

  function onOriginHead(seq: number): void {
    originHead = Math.max(originHead, seq)
    behindSince = head() >= originHead ? null : (behindSince ?? now())
  }

  return {
    onContact: () => void (lastContactAt = settings.now()),
    onOriginHead,
    onFault: tell,
    isWell: () => fault === null,
    onProved() {
      provedAt = settings.now()
      onOriginHead(head())
      tell(null)
    },
    onHeld(counts) {
      const isChanged = JSON.stringify(held?.counts) !== JSON.stringify(counts)
      held = { counts, toldAt: settings.now() }
      if (isChanged) store.putHeld(held)
    },
    onContradiction(found) {
      contradicted = found
      tell(found.reason)
      return found
    },
    state: () => ({
      originUrl: origin.url,
      origin: store.identity.origin,
      log: store.identity.id,
      pinned: store.pins.vkeys,
      pinnedOnFirstUse: store.pins.firstUse,
      provedAt,
      originHead,
      behindEvents: Math.max(0, originHead - head()),
      behindMs: behindSince === null ? 0 : Math.round(now() - behindSince),
      lastContactAt,
      fault,
      contradicted,
      held,
    }),
  }
}

/** Whether following may work again later: failures of the network, of the origin, and of a full disk. */
function mayPass(error: unknown): boolean {
  if (error instanceof DaybookError || error instanceof WrongError) return true
  return error instanceof UnknownEventError || error instanceof StoreError || isFull(error)
}

function faultOf(error: unknown): string {
  if (isFull(error)) return 'the disk is full'
  return error instanceof Error ? error.message : String(error)
}
