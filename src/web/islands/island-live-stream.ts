import { BACKOFF_MS, backoffMs } from '../../client/ask.ts'
import { STREAM_RETRY_AFTER_MS_MAX, STREAM_SILENCE_MS } from '../../client/stream.ts'

const MS = 1_000
/** Prefix of a data line. Events and positions are read only for the head. */
const DATA = 'data: '
type Position = Readonly<{ seq: number; head?: number }>

/** Status of the stream, which tabs send to each other. */
export type LiveStatus = Readonly<{
  /** `waiting`: ended or refused, with a retry. `failed`: refused permanently. */
  state: 'live' | 'waiting' | 'offline' | 'failed'
  /** Newest event known to exist; 0 when unknown. */
  head: number
  /** Id of the log; null before the first connection. */
  log: string | null
  /** Wall-clock time of the next attempt, in milliseconds. */
  dueAt: number
  /** Whether the service has refused the stream because of the rate limit of its address. */
  limited: boolean
}>

/** `Retry-After` of an answer in milliseconds; 0 without one in seconds. */
export function retryAfterMs({ headers }: Response): number {
  return Math.min(Number(headers.get('Retry-After')) * MS || 0, STREAM_RETRY_AFTER_MS_MAX)
}

/**
 * Follows the head of the log over the stream of pages, until `until` aborts or the first attempt is refused. Passes on
 * no events. A page reads its content from its own URL, so a gap loses nothing.
 */
export async function followLive(until: AbortSignal, notify: (status: LiveStatus) => void): Promise<void> {
  let head = 0
  let log: string | null = null
  let failures = 0

  const say = (state: LiveStatus['state'], inMs = 0, limited = false): void =>
    notify({ state, head, log, dueAt: Date.now() + inMs, limited })

  /** Runs one connection. Returns its answer; undefined without one. */
  async function connect(): Promise<Response | undefined> {
    const silent = new AbortController()
    let timer = 0
    const watch = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), STREAM_SILENCE_MS)
    }
    let answer: Response | undefined
    watch()
    try {
      // Low priority, so that the page's pictures come first. Tools also wait for requests of high priority, and this
      // one never ends.
      answer = await fetch('/live', { signal: AbortSignal.any([until, silent.signal]), priority: 'low' })
      const { headers, body } = answer
      if (!answer.ok || !body || !headers.get('Content-Type')?.startsWith('text/event-stream')) return answer
      log = headers.get('Daybook-Log')
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (let rest = ''; ;) {
        const { done, value } = await reader.read()
        if (done) break
        watch()
        const lines = (rest + value).split('\n')
        rest = lines.pop() ?? ''
        for (const { seq, head: told = seq } of lines.flatMap(positionIn)) {
          failures = 0
          head = Math.max(head, told)
        }
        // Events that arrive together are one status.
        say('live')
      }
    } catch {
      // Connects again.
    } finally {
      clearTimeout(timer)
      silent.abort()
    }
    return answer
  }

  while (!until.aborted) {
    const answer = await connect()
    if (until.aborted) return
    const status = answer?.status ?? 0
    // A 4xx at the first attempt is a refusal. Later it may come from a proxy.
    if (log === null && status > 399 && status < 500 && status !== 429 && status !== 408) return say('failed')
    const askedMs = answer === undefined ? 0 : retryAfterMs(answer)
    const waitMs = Math.max(backoffMs(++failures, Math.random), askedMs + Math.random() * BACKOFF_MS)
    // An address with too many streams gets no time for a retry.
    say(answer === undefined ? 'offline' : 'waiting', waitMs, status === 429 && askedMs > 0)
    await wait(waitMs, until)
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
