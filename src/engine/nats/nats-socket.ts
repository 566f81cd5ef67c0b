import { Socket } from 'node:net'
import type { NatsConnection } from '@nats-io/transport-node'

/** Longest wait, when a broker is left, for bytes that it does not take. */
const LEAVE_MS_MAX = 1_000

/**
 * Leaves a broker that takes no bytes. The library sends all that waits before it closes a socket, without a time limit:
 * a large message to a paused broker would hold the connection for as long as the pause. Runs until the connection is
 * closed.
 */
export async function leaveInTime(nats: NatsConnection): Promise<void> {
  for await (const { type } of nats.status()) {
    if (type !== 'forceReconnect' && type !== 'staleConnection') continue
    const left = socketOf(nats)
    setTimeout(() => left?.destroy(), LEAVE_MS_MAX).unref()
  }
}

/** The present socket of a connection; null without one. */
function socketOf(nats: NatsConnection): Socket | null {
  const socket = partOf(partOf(partOf(nats, 'protocol'), 'transport'), 'socket')
  return socket instanceof Socket ? socket : null
}

/** A part that the library keeps for itself; undefined when it has no such part. */
function partOf(whole: unknown, name: string): unknown {
  return typeof whole === 'object' && whole !== null ? Reflect.get(whole, name) : undefined
}
