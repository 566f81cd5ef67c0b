import { BACKOFF_MS, backoffMs } from '../../client/ask.ts'
import type { StreamStatus } from '../../client/stream.ts'
import { STREAM_RETRY_AFTER_MS_MAX, STREAM_SILENCE_MS } from '../../client/stream.ts'
import type { StreamSignal, StreamState } from '../../client/stream-state.ts'
import { STREAM_STATES } from '../../client/stream-state.ts'

const MS = 1_000
/**
 * An event and a position are a line of data each; of either only how far the log has come is read: less than the
 * client's own frames say, and a third of what they weigh on every page.
 */
const DATA = 'data: '
type Position = Readonly<{ seq: number; head?: number; live?: boolean }>

/** How the stream stands, when the next attempt is due by the clock that all tabs share, and the id of the log. */
export type Standing = StreamStatus & Readonly<{ dueAt: number; log: string | null }>

/** What an answer says of when to ask again, in milliseconds; 0 where it says nothing that is understood. */
export function retryAfterMs({ headers }: Response): number {
  return Math.min(Number(headers.get('Retry-After')) * MS || 0, STREAM_RETRY_AFTER_MS_MAX)
}

/**
 * Follows the head of the log over the stream until it is told to stop: the client's own states, without its events.
 * Throws when the stream is refused before it ever came. What a page shows it reads from its own address, so that a
 * connection that leaves something out loses nothing.
 */
export async function followLive(until: AbortSignal, tell: (standing: Standing) => void): Promise<void> {
  let state: StreamState = 'connecting'
  let head = 0
  let log: string | null = null
  let failures = 0

  const take = (signal: StreamSignal, inMs = 0): void => {
    state = STREAM_STATES[state][signal]
    tell({ state, seq: head, head, cause: undefined, inMs, dueAt: Date.now() + inMs, log })
  }

  /** One connection, from its beginning to its end; how long to wait, where an answer says that it serves not now. */
  async function connect(): Promise<number | undefined> {
    const silent = new AbortController()
    let timer = 0
    const watch = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), STREAM_SILENCE_MS)
    }
    watch()
    try {
      const answer = await fetch('/api/v1/stream', {
        headers: { Accept: 'text/event-stream' },
        signal: AbortSignal.any([until, silent.signal]),
        cache: 'no-store',
      })
      const { status, headers, body } = answer
      const isStream = headers.get('Content-Type')?.startsWith('text/event-stream')
      if (status !== 200 || body === null || isStream !== true) {
        // What stands between may answer in the service's place for a while; at first it is a wrong address.
        if (log === null && status > 399 && status < 500 && status !== 429 && status !== 408) return -1
        return retryAfterMs(answer)
      }
      log = headers.get('Daybook-Log')
      take('opened')
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (let rest = ''; ;) {
        const { done, value } = await reader.read()
        if (done) break
        watch()
        const lines = (rest + value).split('\n')
        rest = lines.pop() ?? ''
        for (const { seq, head: told = seq, live = true } of lines.flatMap(positionIn)) {
          failures = 0
          head = Math.max(head, told)
          if (!live) take('behind')
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

  while (!until.aborted) {
    const asked = await connect()
    if (until.aborted) return
    if (asked === -1) throw new Error('the stream is refused')
    failures += 1
    const waitMs = Math.max(backoffMs(failures, Math.random), (asked ?? 0) + Math.random() * BACKOFF_MS)
    take(asked === undefined ? 'broke' : 'busy', waitMs)
    await wait(waitMs, until)
    if (!until.aborted) take('due')
  }
}

function positionIn(line: string): readonly Position[] {
  return line.startsWith(DATA) ? [JSON.parse(line.slice(DATA.length))] : []
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
