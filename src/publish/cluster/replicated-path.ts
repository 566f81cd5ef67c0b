import type { FailedOutcome } from '../admission/outcome.ts'
import { doorRefusal } from '../admission/outcome.ts'
import type { CommitEnd, CommitPath, CommitRoom, CommitWork } from '../commits/commit-path.ts'
import { FULL, lacksRoom, UNAVAILABLE } from '../commits/commit-failure.ts'
import type { CommitFailureSettings } from '../commits/commit-failure.ts'
import type { Book } from '../replica/replica-book.ts'
import type { CommitResult } from '../replica/commit-jobs.ts'
import type { Replica } from '../replica/replica.ts'

type ReplicatedSettings = Pick<CommitFailureSettings, 'onFull' | 'onBroken' | 'isDiskFull'> &
  Readonly<{
    book: Book & Readonly<{ room: CommitRoom; isMoving(): boolean }>
    /** The replica of the present stream; null while there is none. */
    replica(): Replica | null
    /** Whether the books have all events that this node has served. Another event in such a place would be a fork. */
    hasServed(): boolean
  }>

/** A commit that is built: what undoes it in memory, and whether it succeeded here. */
type BuiltCommit = { readonly undone: () => void; isKept: boolean }
type OpenCommit = { is: boolean; isUnchanged: boolean; commit: BuiltCommit | null }

/** The path of commits to the machines that keep the log, and the book that the replica must use. */
type ReplicatedPath = Readonly<{ path: CommitPath; book: Book }>

/** Opens the path of a log that an engine carries. */
export function openReplicatedPath(settings: ReplicatedSettings): ReplicatedPath {
  const { book } = settings
  /** Whether a transaction is open, whether it changed anything, and the commit that is built in it. */
  const open: OpenCommit = { is: false, isUnchanged: false, commit: null }

  function commit<Built>(work: CommitWork<Built>, done: (end: CommitEnd<Built>) => void): void {
    const early = earlyRefusal(settings)
    if (early !== null) return done(failed('behind', early))
    const present = settings.replica()
    if (present === null) return done(failed('behind', 'this node is not connected with the log yet'))
    const isEnded = present.state().stopped !== null
    if (book.applied().place === 0 && work.begins !== true && !isEnded) return done(failed('behind', UNBEGUN))
    const own: BuiltCommit = { undone: work.undone, isKept: false }
    const build = (): Built => {
      open.commit = own
      return work.build()
    }
    present.commit(build).then(
      (result) => done(endOf(result, work, own)),
      (error: unknown) => done({ is: 'failed', outcome: failureOf(settings, error, work.drafts) }),
    )
  }

  function endOf<Built>(
    result: CommitResult<Built>,
    work: CommitWork<Built>,
    own: BuiltCommit,
  ): CommitEnd<Built> {
    if (result.is !== 'committed') return failed(CODES[result.is], result.reason)
    work.durable(own.isKept ? 'committed' : 'followed')
    return { is: 'committed', built: result.value }
  }

  return {
    path: {
      commit,
      isOpen: () => open.is,
      ...book.room,
    },
    book: {
      ...book,
      begin() {
        Object.assign(open, { is: true, isUnchanged: false, commit: null })
        book.begin()
      },
      message() {
        const bytes = book.message()
        open.isUnchanged = bytes === null
        return bytes
      },
      commit(bytes) {
        book.commit(bytes)
        open.is = false
        if (open.commit !== null) open.commit.isKept = true
      },
      rollback() {
        open.is = false
        book.rollback()
        // A commit without changes leaves nothing in memory.
        if (!open.isUnchanged) open.commit?.undone()
      },
    },
  }
}

/** Reason why nothing can be built on the books now; null when it can. */
function earlyRefusal({ book, hasServed }: ReplicatedSettings): string | null {
  if (!hasServed()) return LACKING
  return book.isMoving() ? MOVING : null
}

const UNBEGUN = 'the next stream of the log has not begun yet'

const LACKING =
  'this node lacks events that it has served, and waits until the engine has them; nothing was published'

const MOVING =
  'the log is being moved to its engine: drafts are taken when daybook cluster move has ended; nothing was published'

const CODES: Readonly<Record<Exclude<CommitResult<unknown>['is'], 'committed'>, FailedOutcome['code']>> = {
  unknown: 'outcome-unknown',
  unavailable: 'behind',
  clock: 'clock',
  stopped: 'store-unavailable',
}

function failed(
  code: FailedOutcome['code'],
  reason: string,
): Readonly<{ is: 'failed'; outcome: FailedOutcome }> {
  return { is: 'failed', outcome: doorRefusal(code, reason) }
}

/** Refusal of a commit whose work failed. It is undone. Only a full disk may pass. */
function failureOf(
  { isDiskFull, onFull, onBroken }: ReplicatedSettings,
  error: unknown,
  drafts: number,
): FailedOutcome {
  if (lacksRoom(error, drafts, isDiskFull)) {
    onFull()
    return FULL
  }
  onBroken(new Error('a commit failed', { cause: error }))
  return UNAVAILABLE
}
