import { DaybookError, problemOf } from '../../client/daybook-error.ts'
import type { Daybook } from '../../client/daybook.ts'
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
import { type Diagnosis, heldDiagnosis, note, ok, warn, wrong } from './diagnosis.ts'

/** Most milliseconds between the two clocks. The clock of the service is read from `Date`, in whole seconds. */
const CLOCK_MS_MAX = 5_000

/** The stream of open pages. */
const LIVE_PATH = '/live'

/** Options of a request without retries: a person waits for the answer. */
const ONCE = { attemptsMax: 1, silenceMs: 10_000 } as const

/**
 * Examines a service as its readers see it, through every proxy, and yields each finding. A stream reports its position
 * at once, so first bytes later than `waitMs` mean that a proxy buffers it.
 */
export async function* diagnoseUrl(
  url: string,
  { waitMs, overdueMs }: Readonly<{ waitMs: number; overdueMs: number }>,
  context: CommandContext,
): AsyncGenerator<Diagnosis> {
  const daybook = openClient(url, context)
  const signal = context.stop
  const fetch = fetchWithNotice(readAddress(url), context)
  const askPath = (path: string): Promise<Response> =>
    fetch(new URL(path, url).href, { signal: AbortSignal.any([signal, AbortSignal.timeout(ONCE.silenceMs)]) })
  const before = context.now()
  const answer = await daybook.ask
    .get(endpointPath('status', ''), { ...ONCE, signal, headers: { Origin: 'https://example.org' } })
    .catch(failureOf)
  if (answer instanceof DaybookError) {
    const reason = failureText(answer)
    yield wrong('service', answer.status === 0 ? `the service does not answer: ${reason}` : reason)
    return
  }
  const { headers } = answer
  const nowMs = (before + context.now()) / 2
  const status: Status = answer.json()
  const stream = { what: 'stream', path: endpointPath('stream', '') }
  const live = { what: 'live', path: LIVE_PATH }
  yield serviceOf(status)
  yield* originDiagnosis(status, url)
  yield clockOf(headers, nowMs)
  yield headersOf(headers)
  yield await checkpointOf(daybook, status, signal)
  yield await cacheDiagnosis(askPath).catch((error: unknown) => unansweredCache(error, signal))
  yield* await Promise.all([stream, live].map((one) => streamDiagnosis(daybook, one, waitMs, signal)))
  yield* await rangesOf(daybook, signal)
  yield await exposureOf(daybook, signal)
  const list = `${context.program} held --token-file FILE`
  yield heldDiagnosis(status.finality, { nowMs: status.now.atMs, overdueMs, list })
}

/** Turns an error of the client into a value; any other error is thrown on. */
function failureOf(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error
  throw error
}

function serviceOf({ version, head, following, origin }: Status): Diagnosis {
  const age = head.ageMs === null ? '' : `, the newest ${formatAge(head.ageMs)} old`
  const says = printable(`${origin}, version ${version}, ${formatCount(head.seq, 'event')}${age}`)
  return following.behind > 0
    ? warn('service', `${says}; ${formatCount(following.behind, 'event')} behind`)
    : note('service', says)
}

function unansweredCache(error: unknown, signal: AbortSignal): Diagnosis {
  signal.throwIfAborted()
  return wrong('cache', `an answer failed: ${printable(errorMessage(error))}`)
}

function clockOf(headers: Headers, nowMs: number): Diagnosis {
  const theirs = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return warn('clock', 'the answer has no Date: a proxy removes it')
  const apart = Math.abs(theirs + 500 - nowMs)
  return apart > CLOCK_MS_MAX
    ? wrong('clock', `the clocks of the service and of this machine differ by ${formatAge(apart)}: set them`)
    : ok('clock', 'the clocks of the service and of this machine agree')
}

/** Checks the headers that a proxy may remove or change. */
function headersOf(headers: Headers): Diagnosis {
  const lost = [
    ...(headers.get('access-control-allow-origin') === '*' ? [] : ['CORS is not open to every site']),
    ...(headers.has('daybook-log') ? [] : ['Daybook-Log is missing']),
    ...(headers.has('etag') ? [] : ['ETag is missing']),
  ]
  if (lost.length > 0) return wrong('headers', `${lost.join('; ')}: a proxy changes the headers`)
  const policy = headers.get('ratelimit-policy')
  return ok(
    'headers',
    `CORS, ETag and the log’s id arrive; ${policy === null ? 'no rate limit' : `rate limit ${printable(policy)}`}`,
  )
}

async function checkpointOf({ ask }: Daybook, status: Status, signal: AbortSignal): Promise<Diagnosis> {
  const signed = await ask.get(endpointPath('logCheckpoint', ''), { ...ONCE, signal }).catch(failureOf)
  const list = await ask.get(endpointPath('logKeys', ''), { ...ONCE, signal }).catch(failureOf)
  if (signed instanceof DaybookError) return wrong('checkpoint', failureText(signed))
  if (list instanceof DaybookError) return wrong('checkpoint', `the list of keys: ${failureText(list)}`)
  const { origin, keys: listed }: LogKeys = list.json()
  const keys = listed.flatMap(({ vkey }) => parseVkey(NODE_PRIMITIVES.sha256, vkey) ?? [])
  const trusted = { origin, keys }
  const opened = await openCheckpoint(signed.bytes(), trusted, NODE_PRIMITIVES.verifyEd25519)
  if (!opened.ok) return wrong('checkpoint', `no listed key has signed it (${opened.doubt})`)
  const { size } = opened.value.checkpoint
  const { seq, ageMs } = status.head
  if (size < seq)
    return wrong(
      'checkpoint',
      `it covers ${size} of ${formatCount(seq, 'event')}: a cache on the way keeps an old one`,
    )
  return ok(
    'checkpoint',
    `signed for ${formatCount(size, 'event')}${ageMs === null ? '' : `, the newest ${formatAge(ageMs)} old`}`,
  )
}

/** Whether an interrupted download can resume. Without a closed month there is no file to try. */
async function rangesOf({ ask }: Daybook, signal: AbortSignal): Promise<readonly Diagnosis[]> {
  const archive = await ask.get(endpointPath('archive', ''), { ...ONCE, signal }).catch(failureOf)
  if (archive instanceof DaybookError) return [wrong('ranges', failureText(archive))]
  const { months }: ArchiveIndex = archive.json()
  const closed = months.findLast(({ state, bytes }) => state === 'closed' && (bytes ?? 0) > 1)
  if (closed === undefined) return []
  const path = endpointPath('archiveFile', `${closed.month}.jsonl.gz`)
  const answer = await ask.get(path, { ...ONCE, signal, headers: { Range: 'bytes=0-0' } }).catch(failureOf)
  if (answer instanceof DaybookError) return [wrong('ranges', failureText(answer))]
  const isStrong = answer.headers.get('etag')?.startsWith('"') === true
  return [
    answer.status === 206 && isStrong
      ? ok('ranges', 'interrupted downloads can resume')
      : warn('ranges', 'a proxy ignores Range or weakens ETag: interrupted downloads start again'),
  ]
}

/** Whether the private listener can be reached from here, which it must not. */
async function exposureOf({ ask }: Daybook, signal: AbortSignal): Promise<Diagnosis> {
  for (const path of ['/metrics', '/readyz', '/publish', '/held']) {
    const answer = await ask.get(path, { ...ONCE, signal }).catch(failureOf)
    const isReached = !(answer instanceof DaybookError) || [401, 405].includes(answer.status)
    if (isReached)
      return wrong('private', `${path} can be reached from here: do not expose the private listener`)
  }
  return ok('private', 'the private listener cannot be reached from here')
}

/** A stream of the service: its name in the report, and its path. */
type NamedStream = Readonly<{ what: string; path: string }>

/** Whether the bytes of a stream arrive at once, with headers that keep caches and compression away. */
async function streamDiagnosis(
  { ask }: Daybook,
  { what, path }: NamedStream,
  waitMs: number,
  signal: AbortSignal,
): Promise<Diagnosis> {
  try {
    const { headers, stream } = await ask.open(path, {
      attemptsMax: 1,
      silenceMs: waitMs,
      accept: 'text/event-stream',
      signal,
    })
    const reader = stream.getReader()
    const first = await reader.read()
    await reader.cancel()
    return faultOf(what, headers, first.done) ?? ok(what, 'events arrive at once: no proxy buffers them')
  } catch (error) {
    if (!(error instanceof DaybookError)) throw error
    if (error.code !== 'timeout') return wrong(what, failureText(error))
    return wrong(what, `no bytes arrived in ${waitMs / 1_000} s: a proxy buffers ${path}; turn that off`)
  }
}

function faultOf(what: string, headers: Headers, isEmpty: boolean): Diagnosis | null {
  if (headers.has('content-encoding')) return wrong(what, 'a proxy compresses it, which delays events')
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true || isEmpty)
    return wrong(what, 'the answer is not a stream')
  const caching = headers.get('cache-control') ?? ''
  if (!caching.includes('no-store') || Number(headers.get('age') ?? 0) > 0)
    return wrong(what, 'a proxy caches it or changes its Cache-Control: let it pass unchanged')
  return null
}

/** Asks for a path, with the status and all headers of the answer. */
type AskPath = (path: string) => Promise<Pick<Response, 'status' | 'headers' | 'text'>>

/** An answer that no cache may send without asking the service, and the directive that says so. */
const UNCACHED = [
  { path: endpointPath('summary', ''), directive: 'must-revalidate' },
  { path: endpointPath('logCheckpoint', ''), directive: 'must-revalidate' },
  // A problem: a cached 404 would hide an event after its publication.
  { path: endpointPath('event', SEQ_MAX), directive: 'no-store' },
] as const

/** Requests for each path. Three equal rate limits in a row are no chance. */
const TIMES = 3

/** Headers in which a cache says where an answer comes from. */
const CACHE_STATUS = ['cache-status', 'x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status']

/** Whether a proxy on the way sends an answer again that it must not keep. */
export async function cacheDiagnosis(ask: AskPath): Promise<Diagnosis> {
  for (const { path, directive } of UNCACHED) {
    const answers: Headers[] = []
    for (let times = 0; times < TIMES; times += 1) {
      const { headers, body, refusal } = await askWhole(ask, path)
      if (refusal !== null) return wrong('cache', `${path}: ${refusal}`)
      answers.push(headers)
      if (body === '') return wrong('cache', `${path} has no body: a proxy removes it`)
    }
    const fault = faultOfDirective(answers, directive) ?? signOfCache(answers)
    if (fault !== null) return wrong('cache', `${path}: ${printable(fault)}`)
  }
  return ok('cache', 'the summary, the checkpoint and problems come from the service each time')
}

type WholeAnswer = Readonly<{ headers: Headers; body: string; refusal: string | null }>

async function askWhole(ask: AskPath, path: string): Promise<WholeAnswer> {
  const answer = await ask(path)
  const body = await answer.text()
  return { headers: answer.headers, body, refusal: refusalText(answer.status, answer.headers, body) }
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

/** Codes of a used-up rate limit: of the service, and of a proxy, whose 429 has no code. */
const LIMITED: readonly string[] = ['rate-limited', 'unexpected-answer']

/** Reason of a failed request for a finding: what the service answered, and what to do. */
function failureText({ code, message, status, retryAfterMs }: DaybookError): string {
  if (status === 429 && LIMITED.includes(code)) {
    const when = retryAfterMs === undefined ? 'later' : `in ${retryAfterMs / 1_000} s`
    return `the rate limit of this address is used up: run doctor again ${when}`
  }
  const answered = `the service answered ${status}`
  return printable(status < 500 || message === answered ? message : `${answered}: ${message}`)
}

/** Reason why an answer says nothing about proxies: 429, or a failure of the service; null for any other answer. */
function refusalText(status: number, headers: Headers, body: string): string | null {
  return status === 429 || status >= 500 ? failureText(problemOf(status, headers, body)) : null
}

/** A log whose name names no site, behind an address that others can use. */
export function originDiagnosis(
  { origin, simulated }: Pick<Status, 'origin' | 'simulated'>,
  url: string,
): readonly Diagnosis[] {
  if (!namesNoSite(origin) || isOwnMachine(new URL(url).hostname)) return []
  const named = printable(origin)
  return [
    simulated
      ? warn(
          'origin',
          `${named} is a demonstration, whose events are invented: publish a log made with --origin`,
        )
      : wrong('origin', `${named} is a log for development: publish a new log, made with --origin`),
  ]
}

/** Whether a host is this machine. */
function isOwnMachine(host: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)
}
