import type { Appender } from '../../log/append.ts'
import { afterFailure, type CommitFailureSettings, UNAVAILABLE } from './commit-failure.ts'
import type { CommitEnd, CommitPath, CommitWork } from './commit-path.ts'

type EmbeddedSettings = CommitFailureSettings & Readonly<{ appender: Appender }>

/** Most drafts of a commit, over all its requests. Bounds how long a reader waits for the next head. */
const COMMIT_DRAFTS_MAX = 20_000

/** Opens the commits of a log with one node: each is a transaction of its store, and nobody else writes. */
export function openEmbeddedPath(settings: EmbeddedSettings): CommitPath {
  return {
    commit: (work, done) => done(commit(settings, work)),
    isOpen: () => false,
    hasRoom: () => true,
    reserve: () => undefined,
    sizeOf: ({ length }) => length,
    sizeOfDecision: (drafts) => drafts,
    sizeOfWord: (drafts) => drafts,
    requestMax: Number.POSITIVE_INFINITY,
    requestsMax: COMMIT_DRAFTS_MAX,
  }
}

function commit<Built>(settings: EmbeddedSettings, work: CommitWork<Built>): CommitEnd<Built> {
  const { appender } = settings
  try {
    appender.begin()
    // A crash before the commit returns leaves nothing of the batch.
    const built = work.build()
    appender.commit()
    work.durable()
    // A crash after it leaves everything. A publisher without an answer sends its refs again.
    return { is: 'committed', built }
  } catch (error) {
    const outcome = afterFailure(settings, error, work.drafts)
    if (outcome !== UNAVAILABLE) work.undone()
    return { is: 'failed', outcome }
  }
}
