import { doorRefusal, type FailedOutcome } from '../../publish/admission/outcome.ts'
import {
  type CommitFailureSettings,
  FULL,
  lacksRoom,
  UNAVAILABLE,
} from '../../publish/commits/commit-failure.ts'
import type { CommitEnd, CommitPath, CommitWork } from '../../publish/commits/commit-path.ts'
import type { TableBook } from '../book/table-book.ts'
import type { ClusterNode, CommitAnswer } from '../node/cluster-node.ts'
import type { NodeBook } from '../node/node-book.ts'

type PathSettings = Pick<CommitFailureSettings, 'onFull' | 'onBroken' | 'isDiskFull'> &
  Readonly<{
    book: TableBook
    /** The node; null before its start. */
    node(): Pick<ClusterNode, 'commit'> | null
    /** Whether the books have all events that this node has served. Another event in such a place would be a fork. */
    hasServed(): boolean
  }>

/** The path of commits to the table, and the book that the node must use. */
type CarriedPath = Readonly<{ path: CommitPath; book: NodeBook }>

/** Opens the path of a log that a table carries. */
export function openCarriedPath(settings: PathSettings): CarriedPath {
  const { book } = settings
  /** Whether a transaction is open, whether it changed anything, and what undoes in memory what is built in it. */
  const open = { is: false, isUnchanged: false, undone: (): void => undefined }

  function commit<Built>(work: CommitWork<Built>, done: (end: CommitEnd<Built>) => void): void {
    const node = settings.node()
    if (node === null || !settings.hasServed()) return done(failed('not-leading', LACKING))
    const build = (): Built => {
      open.undone = work.undone
      return work.build()
    }
    node.commit(build).then(
      (answer) => {
        // The reason of a stop may have the stack of an error, which is for the operator's log.
        if (answer.is !== 'committed')
          return done(failed(CODES[answer.is], answer.reason.replace(/\n[^]*/, '')))
        work.durable()
        done({ is: 'committed', built: answer.value })
      },
      (error: unknown) => done({ is: 'failed', outcome: failureOf(settings, error, work.drafts) }),
    )
  }

  return {
    path: { commit, isOpen: () => open.is, ...book.room },
    book: {
      ...book,
      begin() {
        Object.assign(open, { is: true, isUnchanged: false, undone: () => undefined })
        book.begin()
      },
      row() {
        const bytes = book.row()
        open.isUnchanged = bytes === null
        return bytes
      },
      commit(bytes) {
        book.commit(bytes)
        open.is = false
      },
      rollback() {
        open.is = false
        book.rollback()
        // A commit without changes leaves nothing in memory.
        if (!open.isUnchanged) open.undone()
      },
    },
  }
}

const LACKING =
  'this node lacks events that it has served, and reads them from the table first; nothing was published'

const CODES: Readonly<Record<Exclude<CommitAnswer<unknown>['is'], 'committed'>, FailedOutcome['code']>> = {
  'not-leading': 'not-leading',
  unknown: 'outcome-unknown',
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
  { isDiskFull, onFull, onBroken }: PathSettings,
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
