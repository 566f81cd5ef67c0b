import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NatsConnection } from '@nats-io/transport-node'

/** Longest wait, when a broker is left, for bytes that it does not take. */
const LEAVE_MS_MAX = 1_000
/** Channel on which Node tells of each TCP socket that it makes. */
const NEW_SOCKET = 'net.client.socket'
/** Pause between two looks at a dial that goes on after the connection was closed. */
const DIAL_LOOK_MS = 50

/**
 * Makes the first connection. When it fails, the library keeps the socket to a broker that stays silent, and no object
 * leads to it. It would keep the process from ending, so the sockets that the attempt has made are destroyed.
 */
export async function connectFirst(connect: () => Promise<NatsConnection>): Promise<NatsConnection> {
  const attempt = new AsyncLocalStorage<true>()
  const sockets: Socket[] = []
  const note = (made: unknown): void => {
    const socket = partOf(made, 'socket')
    if (attempt.getStore() === true && socket instanceof Socket) sockets.push(socket)
  }
  subscribe(NEW_SOCKET, note)
  try {
    return await attempt.run(true, connect)
  } catch (error) {
    for (const socket of sockets) socket.destroy()
    throw error
  } finally {
    unsubscribe(NEW_SOCKET, note)
  }
}

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

/**
 * Ends the dial of a connection that is closed meanwhile. The library goes on with it, and takes its time limit away: a
 * socket to a silent broker would stay open and keep the process from ending. Runs until the dial has ended.
 */
export async function endDial(nats: NatsConnection): Promise<void> {
  await nats.closed()
  // A name of several addresses, or one that is resolved just now, yields another socket after this one.
  while (isDialling(nats)) {
    socketOf(nats)?.destroy()
    await sleep(DIAL_LOOK_MS, undefined, { ref: false })
  }
  socketOf(nats)?.destroy()
}

function isDialling(nats: NatsConnection): boolean {
  return partOf(partOf(nats, 'protocol'), 'connectPromise') instanceof Promise
}

/** The present socket of a connection; null without one. */
function socketOf(nats: NatsConnection): Socket | null {
  const socket = partOf(partOf(partOf(nats, 'protocol'), 'transport'), 'socket')
  return socket instanceof Socket ? socket : null
}

/** A part of an object whose type does not name it; undefined when there is none. */
function partOf(whole: unknown, name: string): unknown {
  return typeof whole === 'object' && whole !== null ? Reflect.get(whole, name) : undefined
}
