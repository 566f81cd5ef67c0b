import type { ByteStream, Bytes } from './body.ts'
import { readBytes } from './body.ts'
import { DaybookError, problemOf, unexpected } from './daybook-error.ts'
import { openPace } from './pace.ts'
import type { Surroundings } from './surroundings.ts'
import { SURROUNDINGS } from './surroundings.ts'

/** One GET: the path and query, what is accepted, and how patient to be. */
export type AskOptions = Readonly<{
  accept?: string
  /** Further headers, such as `If-None-Match` or `Range`. */
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
  /** Times that it is sent at most; 6 unless said otherwise. */
  attemptsMax?: number
  /** How long nothing may come, before the head of the answer and between bytes of its body. */
  silenceMs?: number
}>

/** A whole answer of status 2xx or 304. */
export type Answer = Readonly<{
  status: number
  headers: Headers
  bytes: () => Bytes
  text: () => string
  /** The body as JSON, of a form that the caller knows; throws `unexpected-answer` when it is no JSON. */
  json: () => ReturnType<typeof JSON.parse>
}>

/** An answer whose body is still to come. A body that breaks throws `unreachable` or `timeout` where it is read. */
export type OpenAnswer = Readonly<{
  status: number
  headers: Headers
  stream: ByteStream
}>

/**
 * Asks one Daybook. Waits as `Retry-After` says, tries again after a failure that may pass, and keeps below the
 * allowance. Throws `DaybookError`, or the signal's reason.
 */
export type Ask = Readonly<{
  /** The service's origin, without a slash at its end. */
  base: string
  /** The whole answer; a body that breaks is asked for again. At most 64 MiB. */
  get: (path: string, options?: AskOptions) => Promise<Answer>
  /** The answer as soon as its head is there: for files and streams. */
  open: (path: string, options?: AskOptions) => Promise<OpenAnswer>
}>

export type AskSettings = Readonly<{
  /** Where the service is, such as `https://data.example.org`. */
  base: string | URL
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>>
}> &
  Partial<Surroundings>

export const ATTEMPTS_MAX = 6
export const SILENCE_MS = 30_000
/** The longest `Retry-After` that is waited for; a longer one is thrown with the error that states it. */
export const RETRY_AFTER_MS_MAX = 120_000
/** The first wait before another attempt, doubled each time up to the last; the real one is a random part of it. */
export const BACKOFF_MS = 1_000
export const BACKOFF_MS_MAX = 30_000
/** Bytes of an answer that is held whole. */
export const ANSWER_BYTES_MAX: number = 64 * 1024 * 1024
const PROBLEM_BYTES_MAX: number = 64 * 1024

/** The wait before attempt number `attempt` (from 1) after a failure: exponential, with full jitter. */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1))
}

/** How long to wait after a failure; undefined when it will not pass, or not soon enough. */
export function waitMsAfter(error: unknown, attempt: number, random: () => number): number | undefined {
  if (!(error instanceof DaybookError) || !mayPass(error)) return undefined
  const asked = error.retryAfterMs
  if (asked === undefined) return backoffMs(attempt, random)
  // The second beyond it keeps many clients that were told the same from coming in the same moment.
  return asked > RETRY_AFTER_MS_MAX ? undefined : asked + random() * BACKOFF_MS
}

/** Whether the same request may be answered in a while. */
export const mayPass = ({ code, status }: DaybookError): boolean =>
  status >= 500 || status === 429 || status === 408 || code === 'unreachable' || code === 'timeout'

/** Opens a client's way to one service. The address must be http or https, without a path of its own. */
export function openAsk({ base, headers: own, ...handed }: AskSettings): Ask {
  const { origin, protocol, pathname } = new URL(base)
  if (!/^https?:$/.test(protocol) || pathname !== '/') {
    throw new TypeError('the base is an http or https origin')
  }
  const around: Surroundings = { ...SURROUNDINGS, ...handed }
  const pace = openPace(around)

  async function once(path: string, options: AskOptions): Promise<OpenAnswer> {
    const { accept = '*/*', headers, signal, silenceMs = SILENCE_MS } = options
    const url = new URL(path, origin)
    // A service may not send a client elsewhere by what it answers.
    if (url.origin !== origin) throw unexpected('the path leads elsewhere')
    const cut = new AbortController()
    const watch = watched(around, cut, silenceMs, signal)
    const response = await watch(
      around.fetch(url.href, {
        headers: { Accept: accept, ...own, ...headers },
        signal: signal === undefined ? cut.signal : AbortSignal.any([signal, cut.signal]),
        credentials: 'omit',
      }),
    )
    pace.heard(path, response.headers)
    const stream = readable(response, watch, cut)
    if (response.ok || response.status === 304) {
      return { status: response.status, headers: response.headers, stream }
    }
    throw problemOf(response.status, response.headers, await problemText(stream))
  }

  async function patiently<T>(
    path: string,
    options: AskOptions,
    take: (answer: OpenAnswer) => Promise<T>,
  ): Promise<T> {
    const { signal, attemptsMax = ATTEMPTS_MAX } = options
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      try {
        await pace.turn(path, allowance, signal)
        return await take(await once(path, options))
      } catch (error) {
        signal?.throwIfAborted()
        const waitMs = attempt < attemptsMax ? waitMsAfter(error, attempt, around.random) : undefined
        if (waitMs === undefined) throw error
        await around.sleep(waitMs, signal)
      }
    }
  }

  /** Asks what the allowance is of an answer that states it. A failure is met by the request itself. */
  async function allowance(): Promise<void> {
    await once('/api/v1/status', {}).then(whole, () => undefined)
  }

  return {
    base: origin,
    get: (path, options = {}) => patiently(path, options, whole),
    open: (path, options = {}) => patiently(path, options, (answer) => Promise.resolve(answer)),
  }
}

/** The body of a problem; what cannot be read of it leaves the status to speak. */
const problemText = (stream: ByteStream): Promise<string> =>
  readBytes(stream, PROBLEM_BYTES_MAX).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => '',
  )

type Watch = <T>(work: Promise<T>) => Promise<T>

/** Waits for one thing after another, for each at most `silenceMs`; then the connection is cut. */
function watched(
  { sleep }: Surroundings,
  cut: AbortController,
  silenceMs: number,
  signal: AbortSignal | undefined,
): Watch {
  return async (work) => {
    const done = new AbortController()
    const late = sleep(silenceMs, done.signal).then(() => {
      const error = new DaybookError('timeout', `nothing came for ${silenceMs} ms`)
      cut.abort(error)
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

/** The body, each piece of it waited for with patience, and its connection closed when nobody reads on. */
function readable(response: Response, watch: Watch, cut: AbortController): ByteStream {
  const reader = response.body?.getReader()
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const read = reader === undefined ? { done: true as const } : await watch(reader.read())
        if (read.done) controller.close()
        else controller.enqueue(read.value)
      },
      cancel(reason) {
        cut.abort(reason)
      },
    },
    // Nothing is read before it is asked for: what waits stays on the connection, where it pushes back.
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
