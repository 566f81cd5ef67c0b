import type { LogEngine } from '../log-engine.ts'
import { appendCommit } from './append-commit.ts'
import type { LogContext } from './log-context.ts'
import { openPlaceHints } from './place-hints.ts'
import { commitBarrier, readCommits } from './read-commits.ts'

const LOOK_MS = 5_000

/** The four calls, and where notifications about the newest place go. */
type PostgresLog = LogEngine &
  Readonly<{
    hear(place: number): void
    /** Forgets what was heard, because the server is another one. */
    reset(): void
  }>

/** The log in a table. A row counts once it is on the disks of as many synchronous standbys as the server requires. */
export function postgresLog(context: LogContext): PostgresLog {
  const hints = openPlaceHints()
  const barrier = sharedRuns(() => commitBarrier(context))
  let grownTo = 0
  // Appends that follow quickly share a notification.
  const announce = sharedRuns(() => notifyGrown(context, grownTo))
  return {
    async append(place, bytes) {
      const appended = await appendCommit(context, place, bytes)
      if (appended === 'appended') {
        grownTo = place
        announce().catch(() => undefined)
      }
      return appended
    },
    async read(from, bytesMax) {
      let isFound = false
      try {
        const messages = await readCommits(context, from, bytesMax, barrier)
        isFound = messages.length > 0
        return messages
      } finally {
        // A hint that is wrong must not wake the same reader again.
        if (!isFound) hints.lower(from)
      }
    },
    last: barrier,
    async wait(from, msMax) {
      if (hints.newest() < from) void newestPlace(context).then(hints.hear, () => undefined)
      await hints.wait(from, msMax)
    },
    hear: hints.hear,
    reset: hints.reset,
  }
}

/** The newest row, which may have come before this connection heard of any. */
async function newestPlace({ link, names }: LogContext): Promise<number> {
  const session = link.now()
  if (session === null) return 0
  return session.read.use(async (connection) => {
    const [row] = await connection.ask(`SELECT max(n) AS last FROM ${names.table}`, [], {
      answerMs: LOOK_MS,
      prepare: true,
    })
    return Number(row?.['last'] ?? 0)
  })
}

/** Wakes the readers of all nodes. */
async function notifyGrown({ link, names }: LogContext, place: number): Promise<void> {
  await link.now()?.ear.ask('SELECT pg_notify($1, $2)', [names.grown, String(place)], { prepare: true })
}

/** Runs one at a time. Callers that arrive during a run share the next one, which begins after they came. */
function sharedRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | null = null
  return () => {
    next ??= (async () => {
      await running.catch(() => undefined)
      const mine = run()
      running = mine
      next = null
      return mine
    })()
    return next
  }
}
