import type { Daybook } from '../../client/daybook.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import type { LogKeys, Status } from '../../protocol/resources.ts'
import { openCheckpoint } from '../../tlog/checkpoint.ts'
import { parseVkey } from '../../tlog/vkey.ts'
import { openClient } from '../terminal/client.ts'
import type { Diagnosis } from './diagnosis.ts'
import { formatAge, note, ok, warn, wrong } from './diagnosis.ts'
import { printable } from '../terminal/output.ts'
import { PRIMITIVES } from '../consumer/verify.ts'
import type { World } from '../terminal/world.ts'

/** How far two clocks may be apart. The service's is read from `Date`, which has whole seconds. */
const CLOCK_MS_MAX = 5_000

/** Asked once: a person waits for the answer. */
const ONCE = { attemptsMax: 1, silenceMs: 10_000 } as const

/**
 * What can be said of a service from where its readers are, through every proxy between. A stream says at once where
 * it stands: what comes later than `waitMs` was held back on its way.
 */
export async function diagnoseUrl(url: string, waitMs: number, world: World): Promise<readonly Diagnosis[]> {
  const daybook = openClient(url, world)
  const signal = world.stop
  const before = world.now()
  const answer = await daybook.ask
    .get(endpointPath('status', ''), { ...ONCE, signal, headers: { Origin: 'https://example.org' } })
    .catch(failureOf)
  if (answer instanceof DaybookError)
    return [wrong('service', `it does not answer: ${printable(answer.message)}`)]
  const { headers } = answer
  const status: Status = answer.json()
  return [
    serviceOf(status),
    clockOf(headers, (before + world.now()) / 2),
    headersOf(headers),
    await checkpointOf(daybook, status, signal),
    await streamOf(daybook, waitMs, signal),
    ...(await rangesOf(daybook, signal)),
    await exposureOf(daybook, signal),
  ]
}

/** An error of the client as a value; anything else is thrown on. */
function failureOf(error: unknown): DaybookError {
  if (error instanceof DaybookError) return error
  throw error
}

function serviceOf({ version, head, following, origin }: Status): Diagnosis {
  const age = head.ageMs === null ? '' : `, the newest ${formatAge(head.ageMs)} old`
  const says = printable(`${origin}, version ${version}, ${head.seq} events${age}`)
  return following.behind > 0
    ? warn('service', `${says}; ${following.behind} events behind`)
    : note('service', says)
}

function clockOf(headers: Headers, nowMs: number): Diagnosis {
  const theirs = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return warn('clock', 'the answer has no Date: a proxy takes it out')
  const apart = Math.abs(theirs + 500 - nowMs)
  return apart > CLOCK_MS_MAX
    ? wrong('clock', `the service’s and this one are ${formatAge(apart)} apart`)
    : ok('clock', 'the service’s and this one agree')
}

/** What a proxy may take out of answers or change. */
function headersOf(headers: Headers): Diagnosis {
  const lost = [
    ...(headers.get('access-control-allow-origin') === '*' ? [] : ['CORS is not open to every site']),
    ...(headers.has('daybook-log') ? [] : ['Daybook-Log is gone']),
    ...(headers.has('etag') ? [] : ['ETag is gone']),
  ]
  if (lost.length > 0) return wrong('headers', lost.join('; '))
  const policy = headers.get('ratelimit-policy')
  return ok(
    'headers',
    `CORS, ETag and the log’s id arrive; ${policy === null ? 'no limit of requests' : `limit ${printable(policy)}`}`,
  )
}

async function checkpointOf({ ask }: Daybook, status: Status, signal: AbortSignal): Promise<Diagnosis> {
  const signed = await ask.get(endpointPath('logCheckpoint', ''), { ...ONCE, signal }).catch(failureOf)
  const list = await ask.get(endpointPath('logKeys', ''), { ...ONCE, signal }).catch(failureOf)
  if (signed instanceof DaybookError || list instanceof DaybookError) {
    return wrong('checkpoint', 'there is none, or no list of keys')
  }
  const { origin, keys: listed }: LogKeys = list.json()
  const keys = listed.flatMap(({ vkey }) => parseVkey(PRIMITIVES.sha256, vkey) ?? [])
  const trusted = { origin, keys, witnesses: [] }
  const opened = await openCheckpoint(signed.bytes(), trusted, PRIMITIVES.verifyEd25519)
  if (!opened.ok) return wrong('checkpoint', `it is not signed as the log’s keys say (${opened.doubt})`)
  const { size } = opened.value.checkpoint
  const { seq, ageMs } = status.head
  if (size < seq) return wrong('checkpoint', `it covers ${size} events of ${seq}: a cache keeps an old one`)
  return ok(
    'checkpoint',
    `signed for ${size} events${ageMs === null ? '' : `, the newest ${formatAge(ageMs)} old`}`,
  )
}

/** Whether what is written to a stream comes at once. */
async function streamOf({ ask }: Daybook, waitMs: number, signal: AbortSignal): Promise<Diagnosis> {
  const options = { attemptsMax: 1, silenceMs: waitMs, accept: 'text/event-stream', signal }
  try {
    const { headers, stream } = await ask.open(endpointPath('stream', ''), options)
    const reader = stream.getReader()
    const first = await reader.read()
    await reader.cancel()
    if (headers.has('content-encoding')) return wrong('stream', 'a proxy compresses it, and so holds it back')
    if (headers.get('content-type')?.startsWith('text/event-stream') !== true || first.done) {
      return wrong('stream', 'what answers is no stream')
    }
    return ok('stream', 'it comes at once: nothing between buffers it')
  } catch (error) {
    const { code, message } = failureOf(error)
    if (code !== 'timeout') return wrong('stream', printable(message))
    return wrong('stream', `nothing came in ${waitMs / 1_000} s: a proxy buffers it`)
  }
}

/** Whether a download that broke off can be gone on with. Without a closed month there is nothing to try. */
async function rangesOf(daybook: Daybook, signal: AbortSignal): Promise<readonly Diagnosis[]> {
  const { months } = await daybook.archive({ signal })
  const closed = months.findLast(({ state, bytes }) => state === 'closed' && (bytes ?? 0) > 1)
  if (closed === undefined) return []
  const path = endpointPath('archiveFile', `${closed.month}.jsonl.gz`)
  const answer = await daybook.ask
    .get(path, { ...ONCE, signal, headers: { Range: 'bytes=0-0' } })
    .catch(failureOf)
  if (answer instanceof DaybookError) return [wrong('ranges', printable(answer.message))]
  const isStrong = answer.headers.get('etag')?.startsWith('"') === true
  return [
    answer.status === 206 && isStrong
      ? ok('ranges', 'a file of the archive can be gone on with')
      : warn('ranges', 'a proxy ignores Range or weakens ETag: downloads that break begin anew'),
  ]
}

/** What is the operator's alone must not be reached from where readers are. */
async function exposureOf({ ask }: Daybook, signal: AbortSignal): Promise<Diagnosis> {
  for (const path of ['/metrics', '/readyz', '/publish']) {
    const answer = await ask.get(path, { ...ONCE, signal }).catch(failureOf)
    const isReached = !(answer instanceof DaybookError) || [401, 405].includes(answer.status)
    if (isReached) return wrong('private', `${path} is reached from here: the private listener is exposed`)
  }
  return ok('private', 'the private listener is not reached from here')
}
