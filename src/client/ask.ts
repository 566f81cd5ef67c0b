import { type Bytes, type ByteStream, readBytes } from './body.ts'
import { DaybookError, problemOf, unexpected } from './daybook-error.ts'
import { openPace } from './pace.ts'
import { type Surroundings, SURROUNDINGS } from './surroundings.ts'

/** Options of one GET request. */
export type AskOptions = Readonly<{
  accept?: string
  /** Further headers, such as `If-None-Match` or `Range`. */
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
  /** Attempts at most; 6 by default. */
  attemptsMax?: number
  /** Timeout for the head of the answer, and for each part of its body; 30 s by default. */
  silenceMs?: number
}>

/** A complete answer with status 2xx or 304. */
export type Answer = Readonly<{
  status: number
  headers: Headers
  bytes: () => Bytes
  text: () => string
  /** Body parsed as JSON, without a check of its form. Throws `unexpected-answer` when it is not JSON. */
  json: () => ReturnType<typeof JSON.parse>
}>

/** An answer whose body is read as a stream. Reading a broken body throws `unreachable` or `timeout`. */
export type OpenAnswer = Readonly<{
  status: number
  headers: Headers
  stream: ByteStream
}>

/**
 * Sends GET requests to one Daybook. Obeys `Retry-After`, retries after a temporary failure, and stays below the rate
 * limit. Throws `DaybookError`, or the signal's reason.
 */
export type Ask = Readonly<{
  /** Origin of the service, without a trailing slash. */
  base: string
  /** Returns the complete answer, at most 64 MiB. Retries when the body breaks off. */
  get: (path: string, options?: AskOptions) => Promise<Answer>
  /** Returns the answer as soon as its head has arrived; for files and streams. */
  open: (path: string, options?: AskOptions) => Promise<OpenAnswer>
}>

export type AskSettings = Readonly<{
  /** Origin of the service, such as `https://data.example.org`. */
  base: string | URL
  /** Headers to send with every request. */
  headers?: Readonly<Record<string, string>>
}> &
  Partial<Surroundings>

export const ATTEMPTS_MAX = 6
const SILENCE_MS = 30_000
/** Longest `Retry-After` to wait for. With a longer one the error is thrown. */
const RETRY_AFTER_MS_MAX = 120_000
/** Upper bound of the wait before the first retry. It doubles with each retry, up to the maximum. */
export const BACKOFF_MS = 1_000
const BACKOFF_MS_MAX = 30_000
/** Bytes of the largest answer of `get`. */
const ANSWER_BYTES_MAX: number = 64 * 1024 * 1024
const PROBLEM_BYTES_MAX: number = 64 * 1024

/** Wait before retry number `attempt` (from 1): exponential backoff with full jitter. */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1))
}

/** Wait before the next attempt; undefined for a permanent failure or a `Retry-After` that is too long. */
export function waitMsAfter(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof DaybookError) || !mayPass(error)) return undefined
  const asked = error.retryAfterMs
  if (asked === undefined) return backoffMs(attempt, random)
  // Up to one extra second spreads out clients that got the same `Retry-After`.
  return asked > RETRY_AFTER_MS_MAX ? undefined : asked + random() * BACKOFF_MS
}

/** Whether the failure is temporary, so that a retry may succeed. */
export const mayPass = ({ code, status }: DaybookError): boolean =>
  status >= 500 || status === 429 || status === 408 || code === 'unreachable' || code === 'timeout'

/** Opens requests to one service. Throws a `TypeError` unless the base is an http or https origin. */
export function openAsk({ base, headers: own, ...handed }: AskSettings): Ask {
  const { origin, protocol, pathname } = new URL(base)
  if (!/^https?:$/.test(protocol) || pathname !== '/') {
    throw new TypeError('the base is an http or https origin')
  }
  const around: Surroundings = { ...SURROUNDINGS, ...handed }
  const pace = openPace(around)

  async function once(path: string, options: AskOptions): Promise<OpenAnswer> {
    const { accept = '*/*', headers, signal, silenceMs = SILENCE_MS } = options
    // A path from an answer, such as `next`, must not lead to another service.
    if (!URL.canParse(path, origin)) throw unexpected('the path is no path')
    const url = new URL(path, origin)
    if (url.origin !== origin) throw unexpected('the path leads to another origin')
    const connection = new AbortController()
    const watch = watched(around, connection, silenceMs, signal)
    const response = await watch(
      around.fetch(url.href, {
        headers: { Accept: accept, ...own, ...headers },
        signal: signal === undefined ? connection.signal : AbortSignal.any([signal, connection.signal]),
        credentials: 'omit',
      }),
    )
    pace.update(path, response.headers)
    const stream = readable(response, watch, connection)
    if (response.ok || response.status === 304) {
      return { status: response.status, headers: response.headers, stream }
    }
    throw problemOf(response.status, response.headers, await problemText(stream))
  }

  async function withRetries<T>(
    path: string,
    options: AskOptions,
    take: (answer: OpenAnswer) => Promise<T>,
  ): Promise<T> {
    const { signal, attemptsMax = ATTEMPTS_MAX } = options
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      try {
        await pace.wait(path, probeRateLimit, signal)
        return await take(await once(path, options))
      } catch (error) {
        signal?.throwIfAborted()
        const waitMs = attempt < attemptsMax ? waitMsAfter(error, attempt, around.random) : undefined
        if (waitMs === undefined) throw error
        await around.sleep(waitMs, signal)
      }
    }
  }

  /**
   * Sends a small request whose answer states the rate limit. Ignores a failure, which the next request would meet too.
   */
  async function probeRateLimit(): Promise<void> {
    await once('/api/v1/status', {}).then(whole, () => undefined)
  }

  return {
    base: origin,
    get: (path, options = {}) => withRetries(path, options, whole),
    open: (path, options = {}) => withRetries(path, options, (answer) => Promise.resolve(answer)),
  }
}

/** Body of a problem; empty when it cannot be read. */
const problemText = (stream: ByteStream): Promise<string> =>
  readBytes(stream, PROBLEM_BYTES_MAX).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => '',
  )

type Watch = <T>(work: Promise<T>) => Promise<T>

/** Makes a function that waits for one promise at a time, and aborts the connection after `silenceMs`. */
function watched(
  { sleep }: Surroundings,
  connection: AbortController,
  silenceMs: number,
  signal: AbortSignal | undefined,
): Watch {
  return async (work) => {
    const done = new AbortController()
    const late = sleep(silenceMs, done.signal).then(() => {
      const error = new DaybookError('timeout', `the service sent nothing for ${silenceMs} ms`)
      connection.abort(error)
      throw error
    })
    try {
      return await Promise.race([work, late])
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof DaybookError) throw cause
      throw new DaybookError('unreachable', 'the connection failed', { cause })
    } finally {
      done.abort()
    }
  }
}

/** Body of a response with a timeout for each piece. Cancelling it closes the connection. */
function readable(response: Response, watch: Watch, connection: AbortController): ByteStream {
  const reader = response.body?.getReader()
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const read = reader === undefined ? { done: true as const } : await watch(reader.read())
        if (read.done) controller.close()
        else controller.enqueue(read.value)
      },
      cancel(reason) {
        connection.abort(reason)
      },
    },
    // No read-ahead: unread bytes stay on the connection, where they cause back-pressure.
    { highWaterMark: 0 },
  )
}

async function whole({ status, headers, stream }: OpenAnswer): Promise<Answer> {
  const bytes = await readBytes(stream, ANSWER_BYTES_MAX)
  const text = (): string => new TextDecoder().decode(bytes)
  return {
    status,
    headers,
    bytes: () => bytes,
    text,
    json() {
      try {
        return JSON.parse(text())
      } catch (cause) {
        throw unexpected('the answer is no JSON', { status, cause })
      }
    },
  }
}
