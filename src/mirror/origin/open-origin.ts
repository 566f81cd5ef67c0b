import { type Answer, type Ask, type OpenAnswer, openAsk } from '../../client/ask.ts'
import { type ByteStream, piecesOf } from '../../client/body.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { type Surroundings, SURROUNDINGS } from '../../client/surroundings.ts'
import { type JsonObject, readObject } from '../../verify/reading/json-values.ts'
import type { EvidenceFiles } from '../proof/contradiction.ts'

/** Error for an answer that names another log than the mirrored one. */
export class AnotherLogError extends Error {
  override readonly name = 'AnotherLogError'
}

/** Public API of the followed service, with limits on its answers. */
export type Origin = Readonly<{
  url: string
  around: Surroundings
  /** Requests whose answers are checked for the log's id. */
  ask: Pick<Ask, 'get' | 'open'>
  /** Reads a small body below `/api/v1/`; undefined when there is none. Rejects as `ask` does. */
  read(path: string, limits: BodyLimits, signal: AbortSignal): Promise<Uint8Array | undefined>
  /**
   * Reads a small body as a JSON object. Throws an `unexpected-answer` for anything else: a proxy may have answered.
   */
  json(path: string, limits: BodyLimits, signal: AbortSignal): Promise<JsonObject>
  /** Opens a file below `/api/v1/`. Reading it rejects beyond its limits. */
  file(path: string, limits: BodyLimits, signal: AbortSignal): Promise<OpenAnswer>
  /** Newest small bodies that the origin has sent, by a file name for each kind. */
  shown(): EvidenceFiles
  /** Requires every later answer to be of the log with this id, if it names one. */
  expectLog(id: string): void
}>

/** Most bytes of a body, after any content coding, and the most attempts. */
export type BodyLimits = Readonly<{ bytesMax: number; attemptsMax?: number }>

/** Timeout of a small body in milliseconds, however steadily it arrives. */
const BODY_MS_MAX = 60_000
/** Slowest file, in bytes a second over each `PACE_MS`. */
const FILE_BYTES_PER_S_MIN: number = 4 * 1024
const PACE_MS = 60_000
/** Most bytes that are kept of each body from the origin. */
const SHOWN_BYTES_MAX: number = 4 * 1024 * 1024
/** Requests for a body that breaks off. */
const BODY_ATTEMPTS_MAX = 3

type Opened = Origin['file']

/** Opens the API of a service. Sends no request by itself. `onContact` is called at each answer. */
export function openOrigin(url: string, handed: Partial<Surroundings>, onContact: () => void): Origin {
  const given: Surroundings = { ...SURROUNDINGS, ...handed }
  // A redirect could lead to a service that only this machine may reach.
  const around: Surroundings = {
    ...given,
    fetch: (to, init) => given.fetch(to, { ...init, redirect: 'error' }),
  }
  const plain = openAsk({ base: url, ...around })
  const shown = new Map<string, Uint8Array>()
  const addressOf = (path: string): string => `${plain.base}/api/v1/${path.replace(/\?.*$/s, '')}`
  const { ask, expectLog } = checkedAsk(plain, onContact)
  const opened: Opened = (path, { attemptsMax }, signal) =>
    ask
      .open(`/api/v1/${path}`, { signal, ...(attemptsMax === undefined ? {} : { attemptsMax }) })
      .catch((error: unknown) => {
        if (!(error instanceof DaybookError)) throw error
        if (error.status > 0) onContact()
        throw at(addressOf(path), error)
      })

  async function read(
    path: string,
    limits: BodyLimits,
    signal: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const attemptsMax = Math.min(limits.attemptsMax ?? BODY_ATTEMPTS_MAX, BODY_ATTEMPTS_MAX)
    const take = async (): Promise<Uint8Array | undefined> => {
      try {
        const { stream } = await opened(path, limits, signal)
        const bounds = { ...limits, address: addressOf(path), isFile: false }
        const body = Buffer.concat(await Array.fromAsync(bounded(stream, bounds, around)))
        shown.set(shownName(path), body.subarray(0, SHOWN_BYTES_MAX))
        return body
      } catch (error) {
        if (error instanceof DaybookError && error.status === 404) return undefined
        throw error
      }
    }
    return await retried(take, { attemptsMax, waitMs: 0, mayPass: isCutOff, around, signal })
  }

  return {
    url: plain.base,
    around,
    ask,
    read,
    shown: () => Object.fromEntries(shown),
    expectLog,
    async json(path, limits, signal) {
      const body = await read(path, limits, signal)
      try {
        return readObject(path, body ?? new Uint8Array(0))
      } catch (cause) {
        throw at(addressOf(path), noDaybook(cause))
      }
    },
    async file(path, limits, signal) {
      const answer = await opened(path, limits, signal)
      const pieces = bounded(answer.stream, { ...limits, address: addressOf(path), isFile: true }, around)
      return { ...answer, stream: ReadableStream.from(pieces) }
    },
  }
}

type Retries = Readonly<{
  attemptsMax: number
  /** Milliseconds before the second attempt. Each further wait is longer by as much. */
  waitMs: number
  /** Whether an error may pass by itself. */
  mayPass(error: unknown): boolean
  around: Pick<Surroundings, 'sleep'>
  signal: AbortSignal
}>

/** Result of some work, which is retried after a temporary error. Throws the last error, or the signal's reason. */
export async function retried<Value>(
  work: () => Promise<Value>,
  { attemptsMax, waitMs, mayPass, around, signal }: Retries,
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (attempt >= attemptsMax || !mayPass(error)) throw error
      await around.sleep(waitMs * attempt, signal)
    }
  }
}

/** Whether an answer was cut off, or did not come in time. */
export function isCutOff(error: unknown): boolean {
  return error instanceof DaybookError && /^(?:unreachable|timeout)$/.test(error.code)
}

/** Requests whose answers must be of the expected log, if they name one. */
function checkedAsk(plain: Ask, onContact: () => void): Pick<Origin, 'ask' | 'expectLog'> {
  let expected: string | null = null

  function check({ headers }: Pick<Answer, 'headers'>): void {
    onContact()
    const log = headers.get('daybook-log')
    if (expected !== null && log !== null && log !== expected)
      throw new AnotherLogError('the origin has another log than the mirrored one')
  }

  const ask: Origin['ask'] = {
    async get(path, options) {
      const answer = await plain.get(path, options)
      check(answer)
      return answer
    },
    async open(path, options) {
      const answer = await plain.open(path, options)
      try {
        check(answer)
        return answer
      } catch (error) {
        await answer.stream.cancel().catch(() => undefined)
        throw error
      }
    },
  }
  return { ask, expectLog: (id) => void (expected = id) }
}

/** Error for an address at which no Daybook answers. */
export function noDaybook(cause?: unknown): DaybookError {
  return new DaybookError('unexpected-answer', 'the address answers, but not as a Daybook does', { cause })
}

/** The same error with the address that was asked. */
function at(
  address: string,
  { code, message, status, errors, retryAfterMs, cause }: DaybookError,
): DaybookError {
  return new DaybookError(code, `${address}: ${message}`, { status, errors, retryAfterMs, cause })
}

/** File name for a kind of answers: `archive-manifest.json` for all manifests. */
function shownName(path: string): string {
  const name = path.replace(/\?.*$/s, '')
  return name.replace(/^archive\/.*\.json$/, 'archive-manifest.json').replaceAll(/[^\w.-]/g, '-')
}

type Bounds = Readonly<{ bytesMax: number; address: string; isFile: boolean }>

/** Pieces of a body. Throws `too-large` beyond its limit of bytes, and `timeout` when it arrives too slowly. */
async function* bounded(
  stream: ByteStream,
  { bytesMax, address, isFile }: Bounds,
  { now }: Pick<Surroundings, 'now'>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let bytes = 0
  let [paceMs, paceBytes] = [now(), 0]
  try {
    for await (const piece of piecesOf(stream)) {
      bytes += piece.length
      if (bytes > bytesMax)
        throw new DaybookError('too-large', `the origin sent more than ${bytesMax} bytes in one answer`)
      const elapsedMs = now() - paceMs
      const isSlow = isFile
        ? elapsedMs >= PACE_MS && ((bytes - paceBytes) * 1000) / elapsedMs < FILE_BYTES_PER_S_MIN
        : elapsedMs >= BODY_MS_MAX
      if (isSlow) throw new DaybookError('timeout', 'the origin sends an answer too slowly')
      if (isFile && elapsedMs >= PACE_MS) [paceMs, paceBytes] = [now(), bytes]
      yield piece
    }
  } catch (error) {
    throw error instanceof DaybookError ? at(address, error) : error
  }
}
