import { EngineError } from '../log-engine.ts'
import type { DatabaseTarget } from './database-target.ts'
import type { SeenPrimary, SeenServer } from './primary-search.ts'
import { findPrimary, serverTarget } from './primary-search.ts'
import type { FoundServer, PrimarySession, ServerIdentity } from './primary-session.ts'
import { openPrimarySession } from './primary-session.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/** Waits between two attempts to connect, in ms: doubled from the first to the last. */
const RETRY_MS_MIN = 50
const RETRY_MS_MAX = 1_000
/** Interval in ms at which the server must answer, and the limit of its answer. */
const BEAT_MS = 2_000

/** Listeners of a link. */
type LinkListeners = Readonly<{
  onChange(what: string): void
  onNotification(channel: string, payload: string): void
}>

/** Keeps the newest primary that a node has used over its restarts. May throw. */
export type PrimaryMemory = Readonly<{ read(): SeenPrimary | null; write(seen: SeenPrimary): void }>

/** The session of the present primary, opened again whenever it is lost. */
export type PrimaryLink = AsyncDisposable &
  Readonly<{
    /** The session. Waits for one, and throws an EngineError with the reason when there is none after `ms`. */
    session(ms: number): Promise<PrimarySession>
    /** The session, or null while there is none. */
    now(): PrimarySession | null
  }>

/** Keeps a session with the primary among the servers of a target, until it is disposed. */
export function openPrimaryLink(
  target: DatabaseTarget,
  channels: readonly string[],
  listeners: LinkListeners,
  memory: PrimaryMemory | null,
): PrimaryLink {
  const stop = new AbortController()
  let current: PrimarySession | null = null
  let reason = 'not connected yet'
  // A promise would keep something of each call that ever waited for it.
  let arrival = new AbortController()
  // A call after the loss must wait for the next session instead of failing at once, again and again.
  const forget = (session: PrimarySession): void => {
    if (current !== session) return
    current = null
    arrival = new AbortController()
  }
  const keep = async (): Promise<void> => {
    let seen: SeenServer | null = null
    let before: ServerIdentity | null = null
    for (let waitMs = 0; !stop.signal.aborted;) {
      await pause(waitMs, stop.signal)
      try {
        seen ??= kept(memory)
        const found = await findPrimary(target, seen, stop.signal)
        found.connection.onNotification(listeners.onNotification)
        await using session = await openPrimarySession(serverTarget(target, found.host), found, channels)
        remember(memory, seen, found.identity)
        const last: ServerIdentity | null = before
        before = found.identity
        seen = seenOf(found)
        current = session
        arrival.abort()
        void session.lost.then(() => forget(session))
        if (last !== null) listeners.onChange(changeOf(last, session))
        waitMs = RETRY_MS_MIN
        await beat(session, stop.signal)
        reason = `${session.shown}: the connection was lost`
      } catch (error) {
        reason = errorMessage(error)
        waitMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, waitMs * 2))
      }
    }
  }
  const keeping = keep()
  return {
    now: () => current,
    async session(ms) {
      if (current === null) await pause(ms, arrival.signal, stop.signal)
      if (current === null) throw new EngineError(`PostgreSQL cannot be used: ${reason}`)
      return current
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await keeping
    },
  }
}

function kept(memory: PrimaryMemory | null): SeenServer | null {
  const primary = memory?.read() ?? null
  return primary === null ? null : { ...primary, running: null }
}

function seenOf({ host, identity }: FoundServer): SeenServer {
  const { systemId, timeline, startedAt } = identity
  return { systemId, timeline, running: { host, startedAt } }
}

/** Keeps a primary that is another one than before. */
function remember(
  memory: PrimaryMemory | null,
  seen: SeenServer | null,
  { systemId, timeline }: ServerIdentity,
): void {
  if (seen?.systemId !== systemId || seen.timeline !== timeline) memory?.write({ systemId, timeline })
}

/** Asks the server for a sign of life until the session is lost. */
async function beat(session: PrimarySession, stop: AbortSignal): Promise<void> {
  const ended = new AbortController()
  void session.lost.then(() => ended.abort())
  while (!ended.signal.aborted && !stop.aborted) {
    await pause(BEAT_MS, ended.signal, stop)
    if (!ended.signal.aborted && !stop.aborted) {
      await session.ear.ask('SELECT 1', [], { answerMs: BEAT_MS })
    }
  }
}

function changeOf(before: ServerIdentity, { identity, shown }: PrimarySession): string {
  if (before.timeline !== identity.timeline) {
    return `the primary is ${shown} on timeline ${identity.timeline}, after timeline ${before.timeline}`
  }
  return before.startedAt === identity.startedAt
    ? `the connection to ${shown} was opened again`
    : `the server ${shown} was started again`
}

/** Waits, at most until one of the signals is aborted. */
async function pause(ms: number, ...ends: readonly AbortSignal[]): Promise<void> {
  if (ms === 0 || ends.some(({ aborted }) => aborted)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const wake = (): void => resolve()
  for (const end of ends) end.addEventListener('abort', wake, { once: true })
  await promise
  clearTimeout(timer)
  for (const end of ends) end.removeEventListener('abort', wake)
}
