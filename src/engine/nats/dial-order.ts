import type { Server } from '@nats-io/transport-node'

/** Shortest time between two dials of one broker. */
const DIAL_MS_MIN = 250

/** The next broker to dial, and the wait before it. Null when there is none. */
type NextDial = (brokers: readonly Server[]) => Readonly<{ server: Server; delay: number }> | null

/**
 * Order and pace of dials: the next broker is the one that was dialled longest ago, as the library would try the one that
 * was just left first. The library's own pace reads the time of day: after a clock was put back, it would dial nobody
 * until the clock has caught up. `monotonicMs` is a clock that never jumps.
 */
export function openDialOrder(monotonicMs: () => number): NextDial {
  /** Moment of the newest dial of each broker. */
  const dials = new Map<string, number>()
  const dialledMs = ({ listen }: Server): number => dials.get(listen) ?? -DIAL_MS_MIN
  return (brokers) => {
    const [server] = brokers.toSorted((one, other) => dialledMs(one) - dialledMs(other))
    if (server === undefined) return null
    const nowMs = monotonicMs()
    const dueMs = Math.max(nowMs, dialledMs(server) + DIAL_MS_MIN)
    dials.set(server.listen, dueMs)
    return { server, delay: dueMs - nowMs }
  }
}
