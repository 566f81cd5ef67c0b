import type { Appender } from '../../log/append.ts'
import type { CommitFailureSettings } from './commit-failure.ts'
import { afterFailure } from './commit-failure.ts'
import type { CommitPath, CommitResult, CommitWork } from './commit-path.ts'

type EmbeddedSettings = CommitFailureSettings & Readonly<{ appender: Appender }>

const COMMIT_DRAFTS_MAX = 20_000
const RELEASE_DRAFTS_MAX = 10_000

/** Opens the commits of a log with one node: each is a transaction of its store, and nobody else writes. */
export function openEmbeddedPath(settings: EmbeddedSettings): CommitPath {
  return {
    draftsMax: COMMIT_DRAFTS_MAX,
    releaseMax: RELEASE_DRAFTS_MAX,
    commit: (work, done) => done(commit(settings, work)),
    barrier: () => Promise.resolve(true),
    isOpen: () => false,
  }
}

function commit<Built>(
  settings: EmbeddedSettings,
  { drafts, build, durable }: CommitWork<Built>,
): CommitResult<Built> {
  const { appender } = settings
  try {
    appender.begin()
    // A crash before the commit returns leaves nothing of the batch.
    const built = build()
    durable(appender.commit())
    // A crash after it leaves everything. A publisher without an answer sends its refs again.
    return { is: 'committed', built, newest: true }
  } catch (error) {
    return { is: 'failed', outcome: afterFailure(settings, error, drafts) }
  }
}
