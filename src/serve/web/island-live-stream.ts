import { BACKOFF_MS, backoffMs } from '../../client/ask.ts'
import { openFrames } from '../../client/frames.ts'
import { linesOf } from '../../client/lines.ts'
import type { StreamStatus } from '../../client/stream.ts'
import { STREAM_SILENCE_MS } from '../../client/stream.ts'
import type { StreamSignal, StreamState } from '../../client/stream-state.ts'
import { STREAM_STATES } from '../../client/stream-state.ts'

const MS = 1_000

/**
 * Follows the head of the log over the stream until it is told to stop: the client's own states, without its events.
 * Throws when the stream is refused for good.
 * What a page shows it reads from its own address, so that a connection that leaves something out loses nothing.
 */
export async function followHead(until: AbortSignal, tell: (status: StreamStatus) => void): Promise<void> {
  let state: StreamState = 'connecting'
  let head = 0
  let failures = 0

  const take = (signal: StreamSignal, inMs?: number): void => {
    state = STREAM_STATES[state][signal]
    tell({ state, seq: head, head, cause: undefined, inMs })
  }

  /** One connection, from its beginning to its end; the wait that the service asks for, when it takes none now. */
  async function connect(): Promise<number | 'refused' | undefined> {
    const silent = new AbortController()
    let timer = 0
    const watch = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), STREAM_SILENCE_MS)
    }
    watch()
    try {
      const { ok, status, headers, body } = await fetch('/api/v1/stream', {
        headers: { Accept: 'text/event-stream' },
        signal: AbortSignal.any([until, silent.signal]),
        cache: 'no-store',
      })
      if (!ok || body === null) {
        if (status < 500 && status !== 429 && status !== 408) return 'refused'
        return Number(headers.get('Retry-After') ?? 0) * MS
      }
      take('opened')
      const parse = openFrames()
      for await (const lines of linesOf(body)) {
        watch()
        for (const { event, position } of lines.flatMap((line) => parse(line) ?? [])) {
          failures = 0
          head = Math.max(head, event?.seq ?? 0, position?.head ?? 0)
          if (position !== undefined) take(position.live ? 'level' : 'behind')
        }
        // However many events came together, they are told as one.
        take('level')
      }
    } catch {
      // A connection that breaks is made again, whatever broke it.
    } finally {
      clearTimeout(timer)
      silent.abort()
    }
    return undefined
  }

  for (;;) {
    const asked = await connect()
    if (until.aborted) return
    if (asked === 'refused') throw new Error('the stream is refused')
    failures += 1
    const waitMs = asked === undefined ? backoffMs(failures, Math.random) : asked + Math.random() * BACKOFF_MS
    take(asked === undefined ? 'broke' : 'busy', waitMs)
    await wait(waitMs, until)
    if (until.aborted) return
    take('due')
  }
}

/** Waits for so long, or until the network is back. */
function wait(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = new AbortController()
    const { signal } = done
    const stop = (): void => {
      done.abort()
      resolve()
    }
    setTimeout(stop, ms)
    addEventListener('online', stop, { signal })
    until.addEventListener('abort', stop, { signal })
  })
}
