import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { backoffMs } from '../client/ask.ts'
import { openPace } from '../client/pace.ts'
import type { Surroundings } from '../client/surroundings.ts'
import { errorMessage } from '../protocol/error-reason.ts'

/** Most requests of a run. */
export const REQUESTS_MAX = 2_000
/** Most bytes of the bodies of a run. */
const RUN_BYTES_MAX: number = 512 * 1024 * 1024
/** Most bytes that are read of one body. */
export const ANSWER_BYTES_MAX: number = 16 * 1024 * 1024
/** Longest time of one answer, to its last byte. */
const ANSWER_MS_MAX = 20_000
/** Most attempts of a request that meets a busy or restarting service. */
const ATTEMPTS_MAX = 3
/** Longest `Retry-After` that is waited for. */
const RETRY_AFTER_MS_MAX = 120_000
/** Requests in a row without an answer to judge, after which a run ends. */
const UNANSWERED_MAX = 3

/** A request. Its path is sent as it is. It never has a body. */
export type SentRequest = Readonly<{
  method: string
  target: string
  headers?: Readonly<Record<string, string>>
  /** Text after which the connection is closed; null or absent reads to the end. */
  until?: string | null
  /** Whether `reserve` has waited for it. */
  reserved?: boolean
}>

export type SentAnswer = Readonly<{
  code: number
  headers: Headers
  body: Buffer
  /** Whether the body is longer than what was read, and whether `Content-Length` said so. */
  isCut: boolean
  isSized: boolean
  /** The body as JSON, without a check of its form. Throws when it is none. */
  json: () => ReturnType<typeof JSON.parse>
}>

/** The run cannot go on: the service does not answer, or a limit of the run is reached. The message may be printed. */
export class RunEnd extends Error {
  override readonly name = 'RunEnd'
}

/** The error of a request that has no answer, which is a fault of the service. Any other error is thrown on. */
export function unansweredBy(error: unknown): Error {
  if (error instanceof RunEnd || !(error instanceof Error) || error.name === 'AbortError') throw error
  return error
}

/** Sends requests one at a time, below the rate limit of the address and within the limits of a run. */
export type Sender = Readonly<{
  /** The answer. Throws an Error with the reason when there is none, and `RunEnd` when the run must end. */
  send(request: SentRequest): Promise<SentAnswer>
  /** Waits until this many requests may follow each other without a pause. */
  reserve(target: string, count: number): Promise<void>
  counts(): Readonly<{ requests: number; bytes: number }>
}>

type SenderSettings = Readonly<{
  base: URL
  headers: Readonly<Record<string, string>>
  stop: AbortSignal
  /** Called before each request with the number of requests. */
  onRequest?: (requests: number) => void
}> &
  Pick<Surroundings, 'now' | 'sleep' | 'random'>

/** Status codes that may pass: a proxy without its service, a service that starts, a rate limit. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function openSender({ base, headers, stop, onRequest, ...around }: SenderSettings): Sender {
  const pace = openPace(around)
  let requests = 0
  let bytes = 0
  let unanswered = 0

  async function once(asked: SentRequest): Promise<SentAnswer> {
    if (requests >= REQUESTS_MAX) throw new RunEnd(`the limit of ${REQUESTS_MAX} requests is reached`)
    if (bytes >= RUN_BYTES_MAX) throw new RunEnd(`the limit of ${RUN_BYTES_MAX} bytes is reached`)
    requests += 1
    onRequest?.(requests)
    const answer = await exchange(base, { ...asked, headers: { ...headers, ...asked.headers } }, stop)
    bytes += answer.body.byteLength
    pace.update(asked.target, answer.headers)
    return answer
  }

  const probe = (): Promise<void> =>
    once({ method: 'GET', target: '/api/v1/status' }).then(
      () => undefined,
      () => undefined,
    )

  /** The answer; the reason when there is none. */
  async function tried(asked: SentRequest): Promise<SentAnswer | Error> {
    for (let attempt = 1; ; attempt++) {
      stop.throwIfAborted()
      if (asked.reserved !== true || attempt > 1) await pace.wait(asked.target, probe, stop)
      const answer = await once(asked).catch(reasonOf)
      stop.throwIfAborted()
      const waitMs = attempt < ATTEMPTS_MAX ? waitMsAfter(answer, attempt, around.random) : undefined
      if (waitMs === undefined) return answer
      await around.sleep(waitMs, stop)
    }
  }

  return {
    async send(asked) {
      const answer = await tried(asked)
      const isAnswered = !(answer instanceof Error) && !PASSING.has(answer.code) && answer.code !== 500
      unanswered = isAnswered ? 0 : unanswered + 1
      if (unanswered >= UNANSWERED_MAX) {
        const why = answer instanceof Error ? answer.message : `the last answer has status ${answer.code}`
        throw new RunEnd(`the service has not answered ${UNANSWERED_MAX} requests in a row: ${why}`)
      }
      if (answer instanceof Error) throw answer
      return answer
    },
    async reserve(target, count) {
      for (let each = 0; each < count; each++) await pace.wait(target, probe, stop)
    },
    counts: () => ({ requests, bytes }),
  }
}

/** An error as a value; `RunEnd` is thrown on. */
function reasonOf(error: unknown): Error {
  if (error instanceof RunEnd) throw error
  return error instanceof Error ? error : new Error(errorMessage(error))
}

/** Wait before the next attempt; undefined when another attempt would change nothing. */
function waitMsAfter(answer: SentAnswer | Error, attempt: number, random: () => number): number | undefined {
  // A service that is silent for the whole time of an answer is not asked again.
  if (answer instanceof Error) return answer instanceof LateError ? undefined : backoffMs(attempt, random)
  if (!PASSING.has(answer.code)) return undefined
  const seconds = answer.headers.get('retry-after') ?? ''
  if (!/^\d{1,9}$/.test(seconds)) return backoffMs(attempt, random)
  const waitMs = Number(seconds) * 1000
  return waitMs > RETRY_AFTER_MS_MAX ? undefined : waitMs + backoffMs(1, random)
}

class LateError extends Error {}

/** The error of the first address of a host, which has the reason. */
const innermost = (error: Error): Error =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error

/** Sends a request without normalising its path, and reads the answer. */
async function exchange(base: URL, asked: SentRequest, stop: AbortSignal): Promise<SentAnswer> {
  const { protocol, hostname, port } = base
  const { method, target, headers } = asked
  const late = AbortSignal.timeout(ANSWER_MS_MAX)
  const options = {
    // The name in a URL has an IPv6 address in brackets.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    method,
    path: target,
    headers,
    agent: false,
    signal: AbortSignal.any([stop, late]),
  }
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      const text = innermost(error).message
      reject(late.aborted ? new LateError(`no whole answer in ${ANSWER_MS_MAX / 1000} s`) : new Error(text))
    }
    const send = protocol === 'https:' ? requestTls : requestPlain
    const outgoing = send(options, (incoming) => {
      incoming.on('error', failed)
      readBody(incoming, asked, (answer) => {
        resolve(answer)
        outgoing.destroy()
      })
    })
    outgoing.on('error', failed)
    outgoing.end()
  })
}

/** Reads a body to its end, to the text that ends it, or to the most bytes that are read. */
function readBody(
  incoming: IncomingMessage,
  { method, until = null }: SentRequest,
  done: (answer: SentAnswer) => void,
): void {
  const chunks: Buffer[] = []
  let length = 0
  /** Bytes at the end of what was searched, in which the text may begin. */
  let tail: Buffer = Buffer.alloc(0)
  const sized = Number(incoming.headers['content-length'] ?? 0)
  const end = (isCut: boolean): void => {
    incoming.removeAllListeners('data')
    done(answerOf(incoming, Buffer.concat(chunks), { isCut, isSized: sized > ANSWER_BYTES_MAX }))
  }
  // HEAD answers the length of a body that does not come.
  if (sized > ANSWER_BYTES_MAX && incoming.statusCode !== 304 && method !== 'HEAD') {
    end(true)
    return
  }
  incoming.on('end', () => end(false))
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.byteLength
    if (until !== null) {
      const searched = Buffer.concat([tail, chunk])
      if (searched.includes(until)) return end(false)
      tail = searched.subarray(-Buffer.byteLength(until))
    }
    return length > ANSWER_BYTES_MAX ? end(true) : undefined
  })
}

function answerOf(
  incoming: IncomingMessage,
  body: Buffer,
  cut: Pick<SentAnswer, 'isCut' | 'isSized'>,
): SentAnswer {
  const headers = new Headers()
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '')
  }
  let parsed: ReturnType<typeof JSON.parse>
  return {
    code: incoming.statusCode ?? 0,
    headers,
    body,
    ...cut,
    json: () => (parsed ??= JSON.parse(body.toString())),
  }
}
