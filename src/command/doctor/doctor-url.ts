import { DaybookError, problemOf } from '../../client/daybook-error.ts'
import type { Answer, Ask } from '../../client/ask.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { Status } from '../../protocol/endpoints/description-endpoints.ts'
import type { ArchiveIndex, LogKeys } from '../../protocol/endpoints/file-endpoints.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { openCheckpoint } from '../../tlog/checkpoint.ts'
import { parseVkey } from '../../tlog/note.ts'
import { namesNoSite } from '../operator/log-options.ts'
import { fetchWithNotice, openClient } from '../terminal/client.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { readAddress } from '../terminal/log-address.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { formatAge, printable } from '../terminal/output.ts'
import { type Diagnosis, heldVerdict, named, note, ok, type CheckVerdict, warn, wrong } from './diagnosis.ts'

/** Most milliseconds between the two clocks. `Date` has the service's clock in whole seconds. */
const CLOCK_MS_MAX = 5_000

/** The stream of open pages. */
const LIVE_PATH = '/live'

/** Options of a request without retries, because a person waits for the answer. */
const ONCE = { attemptsMax: 1, silenceMs: 10_000 } as const

/**
 * Examines a service from a reader's side, through every proxy, and yields each verdict. A stream sends its position
 * immediately, so a delay of more than `waitMs` means that a proxy buffers it.
 */
export async function* diagnoseUrl(
  url: string,
  { waitMs, overdueMs }: Readonly<{ waitMs: number; overdueMs: number }>,
  context: CommandContext,
): AsyncGenerator<Diagnosis> {
  const { ask } = openClient(url, context)
  const signal = context.stop
  const get: Get = (path, headers = {}) => ask.get(path, { ...ONCE, signal, headers })
  const fetch = fetchWithNotice(readAddress(url), context)
  const askPath: AskPath = (path) =>
    fetch(new URL(path, url).href, { signal: AbortSignal.any([signal, AbortSignal.timeout(ONCE.silenceMs)]) })

  const before = context.now()
  const answer = await get(endpointPath('status', ''), { Origin: 'https://example.org' }).catch(failureOf)
  if (answer instanceof DaybookError) {
    const reason = failureText(answer)
    yield* named('service', wrong(answer.status === 0 ? `the service does not answer: ${reason}` : reason))
    return
  }
  const { headers } = answer
  const status: Status = answer.json()
  yield* named('service', serviceOf(status))
  yield* named('origin', originVerdict(status, url))
  yield* named('clock', clockOf(headers, (before + context.now()) / 2))
  yield* named('headers', headersOf(headers))
  yield* named('checkpoint', await asked(checkpointOf(get, status)))
  yield* named('cache', await cacheVerdict(askPath).catch((error: unknown) => unansweredCache(error, signal)))
  const [stream, live] = await Promise.all([
    streamVerdict(ask, endpointPath('stream', ''), waitMs, signal),
    streamVerdict(ask, LIVE_PATH, waitMs, signal),
  ])
  yield* named('stream', stream)
  yield* named('live', live)
  yield* named('ranges', await asked(rangesOf(get)))
  yield* named('private', await exposureOf(get))
  const list = `${context.program} held --token-file FILE`
  yield* named('held', heldVerdict(status.finality, { nowMs: status.now.atMs, overdueMs, list }))
}

type Get = (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>

/** Returns an error of the client as a value; throws any other error. */
function failureOf(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error
  throw error
}

/** Verdict of a check, or the failure of its requests. */
async function asked(check: Promise<CheckVerdict | null>): Promise<CheckVerdict | null> {
  const verdict = await check.catch(failureOf)
  return verdict instanceof DaybookError ? wrong(failureText(verdict)) : verdict
}

function serviceOf({ version, head, following, origin }: Status): CheckVerdict {
  const age = head.ageMs === null ? '' : `, the newest ${formatAge(head.ageMs)} old`
  const says = printable(`${origin}, version ${version}, ${formatCount(head.seq, 'event')}${age}`)
  return following.behind > 0 ? warn(`${says}; ${formatCount(following.behind, 'event')} behind`) : note(says)
}

function clockOf(headers: Headers, nowMs: number): CheckVerdict {
  const theirs = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return warn('the answer has no Date: a proxy removes it')
  const apart = Math.abs(theirs + 500 - nowMs)
  return apart > CLOCK_MS_MAX
    ? wrong(`the clocks of the service and of this machine differ by ${formatAge(apart)}: set them`)
    : ok('the clocks of the service and of this machine agree')
}

/** Checks the headers that a proxy may remove or change. */
function headersOf(headers: Headers): CheckVerdict {
  const lost = [
    ...(headers.get('access-control-allow-origin') === '*' ? [] : ['CORS is not open to every site']),
    ...(headers.has('daybook-log') ? [] : ['Daybook-Log is missing']),
    ...(headers.has('etag') ? [] : ['ETag is missing']),
  ]
  if (lost.length > 0) return wrong(`${lost.join('; ')}: a proxy changes the headers`)
  const policy = headers.get('ratelimit-policy')
  const limit = policy === null ? 'no rate limit' : `rate limit ${printable(policy)}`
  return ok(`CORS, ETag and the log’s id arrive; ${limit}`)
}

async function checkpointOf(get: Get, { head: { seq, ageMs } }: Status): Promise<CheckVerdict> {
  const signed = await get(endpointPath('logCheckpoint', ''))
  const list = await get(endpointPath('logKeys', '')).catch(failureOf)
  if (list instanceof DaybookError) return wrong(`the list of keys: ${failureText(list)}`)
  const { origin, keys: listed }: LogKeys = list.json()
  const keys = listed.flatMap(({ vkey }) => parseVkey(NODE_PRIMITIVES.sha256, vkey) ?? [])
  const opened = await openCheckpoint(signed.bytes(), { origin, keys }, NODE_PRIMITIVES.verifyEd25519)
  if (!opened.ok) return wrong(`no listed key has signed it (${opened.doubt})`)
  const { size } = opened.value.checkpoint
  if (size < seq)
    return wrong(`it covers ${size} of ${formatCount(seq, 'event')}: a cache on the way keeps an old one`)
  const age = ageMs === null ? '' : `, the newest ${formatAge(ageMs)} old`
  return ok(`signed for ${formatCount(size, 'event')}${age}`)
}

/**
 * Verdict on whether an interrupted download can resume. Null without a closed month, because only its file can be
 * tried.
 */
async function rangesOf(get: Get): Promise<CheckVerdict | null> {
  const { months }: ArchiveIndex = (await get(endpointPath('archive', ''))).json()
  const closed = months.findLast(({ state, bytes }) => state === 'closed' && (bytes ?? 0) > 1)
  if (closed === undefined) return null
  const path = endpointPath('archiveFile', `${closed.month}.jsonl.gz`)
  const { status, headers } = await get(path, { Range: 'bytes=0-0' })
  return status === 206 && headers.get('etag')?.startsWith('"') === true
    ? ok('interrupted downloads can resume')
    : warn('a proxy ignores Range or weakens ETag: interrupted downloads start again')
}

/** Verdict on the private listener, which must not be reachable from here. */
async function exposureOf(get: Get): Promise<CheckVerdict> {
  for (const path of ['/metrics', '/readyz', '/publish', '/held']) {
    const answer = await get(path).catch(failureOf)
    if (!(answer instanceof DaybookError) || [401, 405].includes(answer.status))
      return wrong(`${path} can be reached from here: do not expose the private listener`)
  }
  return ok('the private listener cannot be reached from here')
}

/** Verdict on a stream. Its bytes must arrive immediately, with headers that disable caches and compression. */
async function streamVerdict(
  ask: Ask,
  path: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<CheckVerdict> {
  try {
    const accept = 'text/event-stream'
    const { headers, stream } = await ask.open(path, { attemptsMax: 1, silenceMs: waitMs, accept, signal })
    const reader = stream.getReader()
    const first = await reader.read()
    await reader.cancel()
    return faultOf(headers, first.done) ?? ok('events arrive at once: no proxy buffers them')
  } catch (error) {
    const failure = failureOf(error)
    if (failure.code !== 'timeout') return wrong(failureText(failure))
    return wrong(`no bytes arrived in ${waitMs / 1_000} s: a proxy buffers ${path}; turn that off`)
  }
}

function faultOf(headers: Headers, isEmpty: boolean): CheckVerdict | null {
  if (headers.has('content-encoding')) return wrong('a proxy compresses it, which delays events')
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true || isEmpty)
    return wrong('the answer is not a stream')
  const caching = headers.get('cache-control') ?? ''
  if (!caching.includes('no-store') || Number(headers.get('age') ?? 0) > 0)
    return wrong('a proxy caches it or changes its Cache-Control: let it pass unchanged')
  return null
}

/** Asks for a path, with the status and all headers of the answer. */
type AskPath = (path: string) => Promise<Pick<Response, 'status' | 'headers' | 'text'>>

/** Paths that no cache may serve without asking the service, with the directive that forbids it. */
const UNCACHED = [
  { path: endpointPath('summary', ''), directive: 'must-revalidate' },
  { path: endpointPath('logCheckpoint', ''), directive: 'must-revalidate' },
  // A problem: a cached 404 would hide an event after its publication.
  { path: endpointPath('event', SEQ_MAX), directive: 'no-store' },
] as const

/** Requests for each path. Three equal rate limits in a row are not chance. */
const TIMES = 3

/** Headers in which a cache reports the source of an answer. */
const CACHE_STATUS = ['cache-status', 'x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status']

/** Verdict on proxies on the way, which must not repeat an answer that they must not store. */
export async function cacheVerdict(ask: AskPath): Promise<CheckVerdict> {
  for (const { path, directive } of UNCACHED) {
    const answers: Headers[] = []
    for (let times = 0; times < TIMES; times += 1) {
      const answer = await ask(path)
      const { status, headers } = answer
      const body = await answer.text()
      // 429 and a failure of the service say nothing about proxies.
      if (status === 429 || status >= 500)
        return wrong(`${path}: ${failureText(problemOf(status, headers, body))}`)
      answers.push(headers)
      if (body === '') return wrong(`${path} has no body: a proxy removes it`)
    }
    const fault = faultOfDirective(answers, directive) ?? signOfCache(answers)
    if (fault !== null) return wrong(`${path}: ${printable(fault)}`)
  }
  return ok('the summary, the checkpoint and problems come from the service each time')
}

function unansweredCache(error: unknown, signal: AbortSignal): CheckVerdict {
  signal.throwIfAborted()
  return wrong(`an answer failed: ${printable(errorMessage(error))}`)
}

function faultOfDirective(answers: readonly Headers[], directive: string): string | null {
  const changed = answers.find(
    (headers) => !(headers.get('cache-control') ?? '').includes(directive) && headers.has('daybook-log'),
  )
  if (changed === undefined) return null
  const has = changed.get('cache-control')
  return `Cache-Control is ${has === null ? 'missing' : `“${has}”`} and lacks ${directive}: let no proxy change it`
}

/** First sign that an answer comes from a cache; null when there is none. */
function signOfCache(answers: readonly Headers[]): string | null {
  const remedy = 'let no proxy cache what Cache-Control forbids'
  for (const headers of answers) {
    const age = Number(headers.get('age') ?? 0)
    if (age > 0) return `it comes from a cache, ${age} s old: ${remedy}`
    for (const name of CACHE_STATUS) {
      const status = headers.get(name) ?? ''
      // A refresh hit was revalidated with the service.
      if (/(?:^|[^a-z])hit\b/i.test(status) && !/refresh/i.test(status))
        return `it comes from a cache (${name}: ${status}): ${remedy}`
    }
  }
  const sameIn = (name: string): boolean => {
    const [first, ...others] = answers.map((headers) => headers.get(name) ?? '')
    return first !== undefined && first !== '' && others.every((other) => other === first)
  }
  if (sameIn('daybook-request')) return `the same answer came ${answers.length} times: ${remedy}`
  if (sameIn('ratelimit')) return `the same answer came ${answers.length} times to one caller: ${remedy}`
  return null
}

/** Error codes of an exceeded rate limit: that of the service, and that of a proxy, whose 429 has no code. */
const LIMITED: readonly string[] = ['rate-limited', 'unexpected-answer']

/** Text about a failed request for a verdict: the service's answer, and what to do. */
function failureText({ code, message, status, retryAfterMs }: DaybookError): string {
  if (status === 429 && LIMITED.includes(code)) {
    const when = retryAfterMs === undefined ? 'later' : `in ${retryAfterMs / 1_000} s`
    return `the rate limit of this address is used up: run doctor again ${when}`
  }
  const answered = `the service answered ${status}`
  return printable(status < 500 || message === answered ? message : `${answered}: ${message}`)
}

/** Verdict on a log without a site's name, behind an address that others can use; null for any other. */
export function originVerdict(
  { origin, simulated }: Pick<Status, 'origin' | 'simulated'>,
  url: string,
): CheckVerdict | null {
  if (!namesNoSite(origin) || isOwnMachine(new URL(url).hostname)) return null
  const name = printable(origin)
  return simulated
    ? warn(`${name} is a demonstration, whose events are invented: publish a log made with --origin`)
    : wrong(`${name} is a log for development: publish a new log, made with --origin`)
}

/** Whether a host is this machine. */
function isOwnMachine(host: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)
}
