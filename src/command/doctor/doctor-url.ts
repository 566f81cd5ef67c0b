import type { Daybook } from '../../client/daybook.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import type { ArchiveIndex } from '../../protocol/resources.ts'
import type { LogKeys, Status } from '../../protocol/status-resources.ts'
import { openCheckpoint } from '../../tlog/checkpoint.ts'
import { parseVkey } from '../../tlog/vkey.ts'
import { fetchWithNotice, openClient } from '../terminal/client.ts'
import { type Diagnosis, note, ok, warn, wrong } from './diagnosis.ts'
import { formatAge } from '../terminal/rounded-quantity.ts'
import { readAddress } from '../terminal/log-address.ts'
import { cacheDiagnosis } from './doctor-cache.ts'
import { failureText } from './doctor-failure.ts'
import { originDiagnosis } from './doctor-origin.ts'
import { streamDiagnosis } from './doctor-stream.ts'
import { heldDiagnosis } from './doctor-held.ts'
import { printable } from '../terminal/output.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import type { World } from '../terminal/world.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import { formatCount } from '../../protocol/amount.ts'

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
  world: World,
): AsyncGenerator<Diagnosis> {
  const daybook = openClient(url, world)
  const signal = world.stop
  const fetch = fetchWithNotice(readAddress(url), world)
  const askPath = (path: string): Promise<Response> =>
    fetch(new URL(path, url).href, { signal: AbortSignal.any([signal, AbortSignal.timeout(ONCE.silenceMs)]) })
  const before = world.now()
  const answer = await daybook.ask
    .get(endpointPath('status', ''), { ...ONCE, signal, headers: { Origin: 'https://example.org' } })
    .catch(failureOf)
  if (answer instanceof DaybookError) {
    const reason = failureText(answer)
    yield wrong('service', answer.status === 0 ? `the service does not answer: ${reason}` : reason)
    return
  }
  const { headers } = answer
  const nowMs = (before + world.now()) / 2
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
  const list = `${world.program} held --token-file FILE`
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
