import { BACKOFF_MS, backoffMs } from '../../client/ask.ts'
import type { StreamStatus } from '../../client/stream.ts'
import { STREAM_RETRY_AFTER_MS_MAX, STREAM_SILENCE_MS } from '../../client/stream.ts'
import type { StreamSignal, StreamState } from '../../client/stream-state.ts'
import { STREAM_STATES } from '../../client/stream-state.ts'

const MS = 1_000
/**
 * Prefix of a data line. Only the head is read from events and positions, which takes a third of the bytes of the
 * client's own parser of frames.
 */
const DATA = 'data: '
type Position = Readonly<{ seq: number; head?: number; live?: boolean }>

/** Status of the stream, the wall-clock time of the next attempt, and the id of the log. */
export type LiveStatus = StreamStatus & Readonly<{ dueAt: number; log: string | null }>

/** `Retry-After` of an answer in milliseconds; 0 without one in seconds. */
export function retryAfterMs({ headers }: Response): number {
  return Math.min(Number(headers.get('Retry-After')) * MS || 0, STREAM_RETRY_AFTER_MS_MAX)
}

/**
 * Follows the head of the log over the stream until `until` aborts, with the states of the client. Throws when the
 * first attempt is refused. It passes on no events: a page reads its content from its own URL, so a gap loses nothing.
 */
export async function followLive(until: AbortSignal, tell: (standing: LiveStatus) => void): Promise<void> {
  let state: StreamState = 'connecting'
  let head = 0
  let log: string | null = null
  let failures = 0

  const take = (signal: StreamSignal, inMs = 0): void => {
    state = STREAM_STATES[state][signal]
    tell({ state, seq: head, head, cause: undefined, inMs, dueAt: Date.now() + inMs, log })
  }

  /** Runs one connection. Returns the wait of a busy answer, −1 for a refusal, and undefined after a break. */
  async function connect(): Promise<number | undefined> {
    const silent = new AbortController()
    let timer = 0
    const watch = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), STREAM_SILENCE_MS)
    }
    watch()
    try {
      const answer = await fetch('/live', {
        headers: { Accept: 'text/event-stream' },
        signal: AbortSignal.any([until, silent.signal]),
        cache: 'no-store',
      })
      const { status, headers, body } = answer
      const isStream = headers.get('Content-Type')?.startsWith('text/event-stream')
      if (status !== 200 || body === null || isStream !== true) {
        // A 4xx at the first attempt is a refusal. Later it may come from a proxy.
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
        // Events that arrive together are one signal.
        take('level')
      }
    } catch {
      // The loop below reconnects.
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

/** Waits for `ms`, or until the network is back or the signal aborts. */
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
