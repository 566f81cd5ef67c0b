import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { resetConnection } from './reset-connection.ts'

/** State of a relay's network. `halfOpen`: the far ends are gone, and the near ends do not learn of it. */
type Weather = 'clear' | 'refusing' | 'stalled' | 'stalledOut' | 'stalledBack' | 'halfOpen'

type Direction = 'both' | 'out' | 'back'

const STALLED = { both: 'stalled', out: 'stalledOut', back: 'stalledBack' } as const

/**
 * A TCP relay with faults. `near` is the side that connects. Bytes that a stall holds back arrive later, as on a
 * network that was parted: no byte is lost inside a connection.
 */
export type FaultRelay = AsyncDisposable &
  Readonly<{
    port: number
    /** Closes all connections. Returns their number. */
    cut(): number
    /** Closes all connections and refuses new ones. */
    refuse(): number
    /** Carries no bytes: in both directions, from the near side only, or to it only. Returns the number of connections. */
    stall(direction: Direction): number
    /** Destroys the far ends. The near ends stay open and silent, also new ones. Returns the number of connections. */
    halfOpen(): number
    /** Delays all bytes. Returns the number of connections. */
    delay(ms: number): number
    /** Ends every fault. Held bytes are sent. */
    heal(): void
  }>

type Link = { readonly near: Socket; readonly far: Socket; readonly ends: readonly (() => void)[] }

export async function openFaultRelay(target: () => number | null): Promise<FaultRelay> {
  const links = new Set<Link>()
  let weather: Weather = 'clear'
  let delayMs = 0

  /** Carries bytes one way, in order, unless the weather holds them. Returns what a heal does. */
  const carry = (from: Socket, to: Socket, direction: 'out' | 'back'): (() => void) => {
    const held: (Buffer | null)[] = []
    const isHeld = (): boolean =>
      weather === 'halfOpen' || weather === STALLED.both || weather === STALLED[direction]
    const flush = (): void => {
      while (held.length > 0 && !isHeld()) {
        const bytes = held.shift()
        if (bytes === null || bytes === undefined) to.destroy()
        else if (!to.destroyed) to.write(bytes)
      }
    }
    const pass = (bytes: Buffer | null): void => {
      held.push(bytes)
      if (delayMs > 0) setTimeout(flush, delayMs)
      else flush()
    }
    from.on('data', (bytes) => pass(Buffer.from(bytes)))
    from.on('error', () => undefined)
    from.on('close', () => pass(null))
    return flush
  }

  const server = createServer({ noDelay: true }, (near) => {
    near.on('error', () => undefined)
    const port = weather === 'refusing' ? null : target()
    if (port === null) {
      resetConnection(near)
      return
    }
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    const link: Link = { near, far, ends: [carry(near, far, 'out'), carry(far, near, 'back')] }
    links.add(link)
    const gone = (): void => {
      if (near.destroyed && far.destroyed) links.delete(link)
    }
    near.once('close', gone)
    far.once('close', gone)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const begin = (next: Weather): number => {
    weather = next
    return links.size
  }
  const cut = (): number => {
    for (const { near, far } of links) {
      resetConnection(near)
      resetConnection(far)
    }
    return links.size
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    refuse() {
      begin('refusing')
      return cut()
    },
    stall: (direction) => begin(STALLED[direction]),
    halfOpen() {
      const count = begin('halfOpen')
      for (const { far } of links) resetConnection(far)
      return count
    },
    delay(ms) {
      delayMs = ms
      return links.size
    },
    heal() {
      weather = 'clear'
      delayMs = 0
      for (const { ends } of links) for (const flush of ends) flush()
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const { near, far } of links) {
        near.destroy()
        far.destroy()
      }
      await closed
    },
  }
}
