import { EngineError } from '../log-engine.ts'
import type { DatabaseHost, DatabaseTarget } from './database-target.ts'
import type { FoundServer, ServerIdentity } from './primary-session.ts'
import { connectServer } from './primary-session.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/** Time in ms for other servers to answer after the first primary did. */
const OTHERS_MS = 300

/** Identity of the newest primary that a node has used. System identifier and timeline never go back. */
export type SeenPrimary = Pick<ServerIdentity, 'systemId' | 'timeline'>

/** The newest primary that was seen, with its address and start when it was seen since this node began. */
export type SeenServer = SeenPrimary &
  Readonly<{ running: Readonly<{ host: DatabaseHost; startedAt: string }> | null }>

/**
 * Asks all servers at once, and returns the primary with the newest timeline. Throws an EngineError when there is none,
 * when two have the same timeline, or when the newest is older than one that was seen.
 */
export async function findPrimary(
  target: DatabaseTarget,
  seen: SeenServer | null,
  stop: AbortSignal,
): Promise<FoundServer> {
  const hosts = target.hosts.length === 0 ? [{ host: 'localhost', port: 5_432 }] : target.hosts
  const found: FoundServer[] = []
  const reasons: string[] = []
  let isOver = false
  const probe = async (host: DatabaseHost): Promise<void> => {
    try {
      const { connection, identity } = await connectServer(serverTarget(target, host), stop)
      if (isOver) await connection[Symbol.asyncDispose]()
      else found.push({ host, connection, identity })
    } catch (error) {
      reasons.push(`${shownHost(host)}: ${errorMessage(error)}`)
    }
  }
  const isAnswered = Promise.withResolvers<void>()
  const probes = hosts.map(async (host) => {
    await probe(host)
    if (found.some(({ identity }) => identity.isWritable)) setTimeout(isAnswered.resolve, OTHERS_MS)
  })
  await Promise.race([Promise.all(probes), isAnswered.promise])
  isOver = true
  const chosen = newest(found, seen, reasons)
  const others = found.filter((one) => one !== chosen)
  await Promise.all(others.map(({ connection }) => connection[Symbol.asyncDispose]()))
  if (chosen === null) throw new EngineError(reasons.join('; '))
  return chosen
}

/** The primary to use; null with reasons for none. */
function newest(
  found: readonly FoundServer[],
  seen: SeenServer | null,
  reasons: string[],
): FoundServer | null {
  for (const { host, identity } of found) {
    if (!identity.isWritable) reasons.push(`${shownHost(host)}: the server is a standby or takes no writes`)
  }
  const primaries = found
    .filter(({ identity }) => identity.isWritable)
    .toSorted((one, other) => other.identity.timeline - one.identity.timeline)
  const [first] = primaries
  if (first === undefined) return null
  const fault = faultOf(first, primaries, seen)
  if (fault !== null) reasons.push(fault)
  return fault === null ? first : null
}

/** Reason why the newest primary cannot be used. */
function faultOf(
  first: FoundServer,
  primaries: readonly FoundServer[],
  seen: SeenServer | null,
): string | null {
  const { systemId, timeline } = seen ?? first.identity
  const running = seen?.running ?? null
  const stranger = primaries.find(({ identity }) => identity.systemId !== systemId)
  if (stranger !== undefined) {
    return `${shownHost(stranger.host)}: the system identifier is another one: this is not the database of this log`
  }
  if (first.identity.timeline < timeline) {
    return `${shownHost(first.host)}: its timeline is ${first.identity.timeline}, older than ${timeline}, which was seen: this server was replaced; stop it`
  }
  // A promotion begins a new timeline, so that one timeline has one primary.
  const twin = primaries.find(
    ({ identity }) =>
      identity.timeline === first.identity.timeline && identity.startedAt !== first.identity.startedAt,
  )
  if (twin !== undefined) {
    return `${shownHost(first.host)} and ${shownHost(twin.host)} are both primaries of timeline ${timeline}: stop the one with the shorter log`
  }
  const isTwinOfSeen =
    running !== null &&
    first.identity.timeline === timeline &&
    first.identity.startedAt !== running.startedAt &&
    shownHost(first.host) !== shownHost(running.host)
  if (!isTwinOfSeen) return null
  return `${shownHost(first.host)} is a primary of timeline ${timeline}, as ${shownHost(running.host)} was: stop the one with the shorter log`
}

/** The target of one server. Another machine is reached with TLS only, and its certificate is checked by default. */
export function serverTarget(target: DatabaseTarget, host: DatabaseHost): DatabaseTarget {
  const one = { ...target, hosts: [host], shown: shownHost(host) }
  if (isLocal(host)) return one
  if (target.tls === false) {
    throw new EngineError(`TLS is required for another machine: use sslmode=verify-full`)
  }
  return { ...one, tls: target.tls === 'prefer' ? { rejectUnauthorized: true } : target.tls }
}

/** Whether a host is this machine: a Unix socket or a loopback address. */
export function isLocal({ host }: DatabaseHost): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Address of a server for messages. */
export function shownHost({ host, port }: DatabaseHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
