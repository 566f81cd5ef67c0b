import { rmSync } from 'node:fs'
import { backoffMs } from '../client/ask.ts'
import { ARCHIVE_EVENTS_MIN } from '../client/follow.ts'
import { DaybookError } from '../client/daybook-error.ts'
import { isNoRoom } from '../log/store/disk-probe.ts'
import { isFull, isPassingFault } from '../log/store/sqlite-error.ts'
import { StoreError } from '../log/store/store.ts'
import { errorMessage, reasonOf } from '../protocol/error-reason.ts'
import { WrongError } from '../verify/reading/finding.ts'
import { downloadFolder } from './build-mirror.ts'
import { UnknownEventError } from './book/mirror-book.ts'
import { type Contradicted, ContradictionError, keepEvidence } from './proof/contradiction.ts'
import { openFollowing } from './live/following.ts'
import { type MirrorCommit, openMirrorStore } from './live/mirror-store.ts'
import { type MirrorState, type MirrorWait, openWatch } from './mirror-watch.ts'
import type { MirrorSettings } from './mirror-settings.ts'
import { isCutOff, openOrigin } from './origin/open-origin.ts'
import type { HeadCell } from '../log/head-cell.ts'

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
     * Follows until the signal aborts. Also resolves at a contradiction; the mirror then keeps its content and stops
     * following. Failures of the network and of the origin are retried without end. Rejects when the store cannot be
     * written.
     */
    run(signal: AbortSignal): Promise<Readonly<{ is: 'stopped' }> | Contradicted>
    state(): MirrorState
    /**
     * Receives a checkpoint of the log that did not come from the origin. If the log has signed it with another tree
     * than the mirror's of this size, the mirror stops as at any contradiction.
     */
    show(note: string): void
  }>

/** Longest `Retry-After` of an origin that is obeyed, in milliseconds. */
const RETRY_AFTER_MS_MAX = 3_600_000
/** Wait before a retry to store evidence. */
const KEEP_AGAIN_MS = 10_000
/** Failures after which the wait between two attempts no longer grows. It is at most 4 s, within the rate limit. */
const ATTEMPTS_MAX = 3

/** Opens the following of a mirror made by `buildMirror`. Sends no request by itself. */
export function openMirroring(
  settings: MirrorSettings,
  cell: HeadCell,
  listeners: MirrorListeners,
): Mirroring {
  const store = openMirrorStore(settings, cell, listeners.onCommitted)
  const origin = openOrigin(settings.url, settings.around, () => watch.onContact())
  const watch = openWatch(settings, store, origin, listeners.onFault)
  origin.expectLog(store.identity.id)
  let failures = 0
  const shown: string[] = []

  /** Reports a temporary failure, and waits. Throws any other. */
  async function recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (!mayPass(error)) throw error
    failures = watch.isWell() ? 1 : failures + 1
    watch.onFault(faultOf(error), waitOf(error))
    const asked = error instanceof DaybookError ? (error.retryAfterMs ?? 0) : 0
    const waitMs = backoffMs(Math.min(failures, ATTEMPTS_MAX), origin.around.random)
    await origin.around.sleep(Math.max(waitMs, Math.min(asked, RETRY_AFTER_MS_MAX)), signal)
  }

  /** Stores the evidence of a contradiction. Retries without following while the disk has no room for it. */
  async function kept(found: ContradictionError, signal: AbortSignal): Promise<Contradicted> {
    for (;;) {
      try {
        return keepEvidence(settings.dataDirectory, found, settings.now())
      } catch (error) {
        watch.onFault(`${found.message}; its evidence cannot be kept: ${reasonOf(error)}`, 'disk')
        await origin.around.sleep(KEEP_AGAIN_MS, signal)
      }
    }
  }

  return {
    async run(signal) {
      const folder = downloadFolder(settings.dataDirectory)
      // Files of a catch-up that was killed.
      rmSync(folder, { recursive: true, force: true })
      const { archiveEventsMin = ARCHIVE_EVENTS_MIN } = settings
      const following = openFollowing({ origin, store, folder, archiveEventsMin, signal, shown, ...watch })
      for (;;) {
        try {
          const error: unknown = await following.follow().catch((failure: unknown) => failure)
          if (error instanceof ContradictionError) return watch.onContradiction(await kept(error, signal))
          await recover(error, signal)
        } catch (error) {
          if (signal.aborted) return { is: 'stopped' }
          throw error
        }
      }
    },
    state: watch.state,
    show(note) {
      // One is enough to stop, and others may come without end.
      if (shown.length === 0) shown.push(note)
    },
    [Symbol.dispose]() {
      watch.keep()
      store[Symbol.dispose]()
    },
  }
}

/**
 * Whether following may work again later, after a failure of the network or the origin, or a temporary one of this
 * machine.
 */
function mayPass(error: unknown): boolean {
  if (error instanceof DaybookError || error instanceof WrongError) return true
  return error instanceof UnknownEventError || error instanceof StoreError || passesHere(error)
}

/** Whether the store or a file beside it could not be written. */
const isDiskFull = (error: unknown): boolean => isFull(error) || isNoRoom(error)

/** Whether this machine failed temporarily: a full disk, or too little memory or too few files. */
const passesHere = (error: unknown): boolean => isNoRoom(error) || isPassingFault(error)

function faultOf(error: unknown): string {
  if (isDiskFull(error)) return 'the disk is full'
  return errorMessage(error)
}

function waitOf(error: unknown): MirrorWait {
  // Downloads too refuse to fill the disk.
  if (passesHere(error) || error instanceof StoreError) return 'disk'
  if (error instanceof UnknownEventError) return 'version'
  return isCutOff(error) ? 'unreachable' : 'unusable'
}
