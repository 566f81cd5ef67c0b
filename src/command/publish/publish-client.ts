import { isJsonObject, type JsonObject } from '../../verify/reading/json-values.ts'
import { type CommandContext, pause, printNotice } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { readAddress } from '../terminal/log-address.ts'
import { printable } from '../terminal/output.ts'
import { readToken } from './token-file.ts'

/** Most attempts of one request while the publish API is unreachable or full, and the wait between them. */
const TRIES_MAX = 5
const RETRY_MS = 1_000
/** Timeout of a node with a fallback. Without it, a node that hangs would keep the drafts from the next one. */
const ANSWER_MS = 15_000
/** Timeout of an operator's request. A decision waits for a commit. */
const OPERATOR_ANSWER_MS = 60_000
/** Status of a request that is interrupted. A late answer counts as one. */
export const REQUEST_TIMEOUT = 408

/**
 * Access to a log's publish APIs: the addresses of its nodes, the token, the required id of the log (null for any), and
 * the stop signal of the command.
 */
export type PublishAccess = Readonly<{
  addresses: AddressChoice
  token: string
  log: string | null
  stop: AbortSignal
  /** Timeout of a node with a fallback; `ANSWER_MS` by default. */
  answerMs?: number
}>

/** Reads the addresses and the token from the user's options. Sends nothing. */
export function openPublishAccess(to: string, tokenFile: string, context: CommandContext): PublishAccess {
  const addresses = openAddressChoice(to, context)
  return { addresses, token: readToken(tokenFile), log: null, stop: context.stop }
}

/** Outcome of one draft. */
export type DraftOutcome = Readonly<{ ref: string; status: string; seq: number | null }>

/** Bad draft of a request: its index, the field at fault, and the reason. */
type BadDraft = Readonly<{ draft: number; field: string; reason: string }>

/** Reason for the failure of a request, with the index and field of the first bad draft, if there is one. */
export type PublishFailure = Readonly<{
  draft: number | null
  field: string | null
  reason: string
  /** Further bad drafts in the answer, in their order. */
  others: readonly BadDraft[]
  /** Whether the drafts may have been published nevertheless. */
  isInDoubt: boolean
  /** HTTP status of the refusal; 408 also for a late answer, null without a complete answer. */
  status: number | null
  /** Requested wait before a retry in milliseconds; null when there is none. */
  retryMs: number | null
  /** Number of held drafts, if the refusal may end when they are settled. */
  held: number
  /** Log id of the node, if it refused because another log is expected. */
  otherLog: string | null
}>

/** Answer to one publish request. */
type PublishAnswer = Readonly<
  { ok: true; receipts: readonly DraftOutcome[]; log: string | null } | { ok: false; failure: PublishFailure }
>

/**
 * Sends drafts, one a line, in one request: all or nothing. Retries for some seconds while the publish API is
 * unreachable or full. A retry never publishes an event twice.
 */
export async function sendDrafts(access: PublishAccess, lines: readonly string[]): Promise<PublishAnswer> {
  let wasInDoubt = false
  for (let attempt = 1; ; attempt++) {
    const answer = await sendOnce(access, lines)
    if (answer.ok) return answer
    const { failure } = answer
    const { status, retryMs } = failure
    const mayPass = status === null || [REQUEST_TIMEOUT, 503, 507].includes(status)
    if (attempt === TRIES_MAX || access.stop.aborted || !mayPass) {
      if (!wasInDoubt) return answer
      const reason = `${failure.reason}; an earlier attempt may have published them: send the same refs again`
      return { ok: false, failure: { ...failure, reason, isInDoubt: true } }
    }
    wasInDoubt ||= failure.isInDoubt
    await pause(retryMs ?? RETRY_MS, access.stop)
  }
}

/**
 * Sends drafts, one a line, in one request, once to each node until one answers for the log. An unreachable or unready
 * node may have published them. The next node gets the same refs, so nothing is published twice.
 */
export async function sendOnce(access: PublishAccess, lines: readonly string[]): Promise<PublishAnswer> {
  const { addresses, stop } = access
  const log = access.log ?? (addresses.hasFallback ? await logOfNodes(addresses, stop) : null)
  const answers = await askInTurn(addresses, stop, async (address) => {
    const answer = await sendTo({ ...access, log }, address, lines)
    return { answer, fault: answer.ok || !concernsNode(answer.failure) ? null : answer.failure.reason }
  })
  const last = answers.at(-1) ?? failed({ status: null, isInDoubt: false, reason: NONE_ASKED })
  if (last.ok || answers.length === 1 || !concernsNode(last.failure)) return last
  const failures = answers.flatMap((answer) => (answer.ok ? [] : [answer.failure]))
  const reason = [...new Set(failures.map((failure) => failure.reason))].join('; ')
  // A request that is too slow for one node must be halved, even if the later nodes are unreachable.
  const isStopped = failures.some(({ status }) => status === REQUEST_TIMEOUT)
  const status = isStopped ? REQUEST_TIMEOUT : last.failure.status
  const isInDoubt = failures.some((failure) => failure.isInDoubt)
  return { ok: false, failure: { ...last.failure, reason, status, isInDoubt } }
}

const NONE_ASKED = 'no publish API was asked'

/**
 * Whether a failure concerns one node, so that another may accept the drafts. The failed node may have published them.
 */
export function concernsNode({ status }: Pick<PublishFailure, 'status'>): boolean {
  return status === null || status === REQUEST_TIMEOUT || status >= 500
}

async function sendTo(access: PublishAccess, address: URL, lines: readonly string[]): Promise<PublishAnswer> {
  const { addresses, answerMs = ANSWER_MS, log: expected } = access
  const asked = await ask(access, new URL('/publish', address), {
    body: lines.join('\n'),
    headers: {
      'content-type': 'application/x-ndjson',
      ...(expected === null ? {} : { 'daybook-log': expected }),
    },
    limitMs: addresses.hasFallback ? answerMs : null,
  })
  if (!asked.ok) return failed(asked)
  const { response, answer } = asked
  const { status, headers } = response
  const receipts = listIn(answer, 'drafts')
  const log = headers.get('daybook-log')
  if (response.ok && receipts.length === lines.length)
    return { ok: true, receipts: receipts.map(receiptOf), log }
  if (status === REQUEST_TIMEOUT) {
    const reason = `the publish API at ${address.host} did not get the whole request in time`
    return failed({ status, isInDoubt: false, reason })
  }
  if (fieldIn(answer, 'code') === 'another-log') {
    const reason = `${address.host} belongs to another log (${printable(log ?? '')}) than the service (${expected}): check --url and --to`
    return failed({ status, isInDoubt: false, reason }, log)
  }
  return { ok: false, failure: failureOf(response, answer) }
}

/**
 * Sends an operator's request to the publish API: GET, or POST with a body. Tries the next node when one is unreachable
 * or not ready, because a repeated decision changes nothing. Throws a CommandError unless one answers.
 */
export async function askOperator(
  access: PublishAccess,
  path: string,
  body: JsonObject | null,
): Promise<JsonObject> {
  const sent =
    body === null
      ? { headers: {} }
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const answers = await askInTurn(access.addresses, access.stop, async (address) => {
    const asked = await ask(access, new URL(path, address), { ...sent, limitMs: OPERATOR_ANSWER_MS })
    const answer = asked.ok ? objectOf(asked) : asked
    return { answer, fault: !answer.ok && concernsNode(answer) ? answer.reason : null }
  })
  const last = answers.at(-1)
  if (last?.ok === true) return last.answer
  throw new CommandError(last?.reason ?? NONE_ASKED)
}

function objectOf({ response, answer }: Whole): Readonly<{ ok: true; answer: JsonObject }> | NoAnswer {
  if (response.ok && isJsonObject(answer)) return { ok: true, answer }
  return { ok: false, status: response.status, isInDoubt: false, reason: detailIn(answer) }
}

/** End of a request without a usable answer. */
type NoAnswer = Readonly<{ ok: false }> & Pick<PublishFailure, 'status' | 'isInDoubt' | 'reason'>
/** Complete answer and its JSON; null when it is not JSON, for example from another program. */
type Whole = Readonly<{ ok: true; response: Response; answer: unknown }>

/** Sends one request to one node. `limitMs` is the timeout of the answer; null means no timeout. */
async function ask(
  { token, stop }: PublishAccess,
  address: URL,
  sent: Readonly<{ body?: string; headers: Readonly<Record<string, string>>; limitMs: number | null }>,
): Promise<Whole | NoAnswer> {
  const { body, headers, limitMs } = sent
  const limit = limitMs === null ? null : AbortSignal.timeout(limitMs)
  const noAnswer = (fault: string, status: number | null, isInDoubt: boolean): NoAnswer => {
    const reason = stop.aborted
      ? 'stopped; the outcome of the last request is unknown'
      : `the publish API at ${address.host} ${fault}`
    return { ok: false, status, isInDoubt, reason }
  }
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { method: 'POST', body }),
    signal: limit === null ? stop : AbortSignal.any([stop, limit]),
  }).catch(() => null)
  if (response === null) {
    // A node that hangs cannot be distinguished from a link that is too slow for the request.
    return limit?.aborted === true && !stop.aborted
      ? noAnswer(`did not answer within ${(limitMs ?? 0) / 1_000} s`, REQUEST_TIMEOUT, true)
      : noAnswer('cannot be reached', null, false)
  }
  const text = await response.text().catch(() => null)
  if (text === null) return noAnswer('broke off its answer', null, true)
  // Every site may read the public listener, but none the private one.
  if (response.headers.has('access-control-allow-origin')) {
    const reason = `${address.host} is the public listener: give --to the address of the publish API`
    return { ok: false, status: response.status, isInDoubt: false, reason }
  }
  return { ok: true, response, answer: jsonOf(text) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function failed(
  { status, isInDoubt, reason }: Omit<NoAnswer, 'ok'>,
  otherLog: string | null = null,
): PublishAnswer {
  const failure = { draft: null, field: null, reason, others: [], status, isInDoubt }
  return { ok: false, failure: { ...failure, retryMs: null, held: 0, otherLog } }
}

function receiptOf(receipt: unknown): DraftOutcome {
  const [ref, status, seq] = ['ref', 'status', 'seq'].map((name) => fieldIn(receipt, name))
  return {
    ref: typeof ref === 'string' ? ref : '',
    status: typeof status === 'string' ? status : '',
    seq: typeof seq === 'number' ? seq : null,
  }
}

function failureOf({ status, headers }: Response, answer: unknown): PublishFailure {
  const [first, ...others] = listIn(answer, 'errors').flatMap(badDraftOf)
  const held = fieldIn(answer, 'held')
  const retrySeconds = headers.get('retry-after') ?? ''
  return {
    ...(first ?? { draft: null, field: null, reason: detailIn(answer) }),
    others,
    status,
    isInDoubt: fieldIn(answer, 'code') === 'outcome-unknown',
    retryMs: /^\d{1,6}$/.test(retrySeconds) ? Number(retrySeconds) * 1_000 : null,
    held: typeof held === 'number' ? held : 0,
    otherLog: null,
  }
}

function badDraftOf(error: unknown): readonly BadDraft[] {
  const [draft, field, reason] = ['draft', 'field', 'message'].map((name) => fieldIn(error, name))
  const isWhole = typeof draft === 'number' && typeof field === 'string' && typeof reason === 'string'
  return isWhole ? [{ draft, field, reason }] : []
}

/** Reason of a refusal. */
function detailIn(answer: unknown): string {
  const detail = fieldIn(answer, 'detail')
  return typeof detail === 'string'
    ? printable(detail)
    : 'the program that answered is not a publish API: check --to'
}

function fieldIn(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name)
  return Array.isArray(list) ? list : []
}

/** Addresses that one command may name. */
const ADDRESSES_MAX = 8
/** Time at a fallback after which the first node is asked whether it accepts drafts again. */
const BACK_MS = 60_000
/** Time limit of that question. */
const READY_MS = 1_000

const ADDRESS = { what: 'the address of the publish API with --to', example: 'http://127.0.0.1:8081' }

/** Choice between the nodes of one log. Requests go to one of them while it answers. */
type AddressChoice = Readonly<{
  /** The address that messages name. */
  first: URL
  /** Whether there is a fallback. */
  hasFallback: boolean
  /** Addresses in the order in which the next request tries them. */
  order(): Promise<readonly URL[]>
  /** Must be called with the address that answered. `fault` is the reason for leaving the previous address. */
  answered(address: URL, fault: string | null): void
}>

/**
 * Opens the choice between the addresses of `--to`: the first, and its fallbacks. Reports each change. From a fallback,
 * a command returns to the first node when that is ready again.
 */
export function openAddressChoice(to: string, context: CommandContext): AddressChoice {
  const all = to.split(',').map((text) => readAddress(text.trim(), ADDRESS))
  if (all.length > ADDRESSES_MAX) throw new UsageError(`--to takes at most ${ADDRESSES_MAX} addresses`)
  const [first = readAddress('', ADDRESS)] = all
  let current = 0
  let leftMs = 0

  function moveTo(place: number, why: string): void {
    current = place
    leftMs = context.monotonicMs()
    printNotice(context, `using the publish API at ${all[place]?.host ?? ''} now: ${why}`)
  }

  return {
    first,
    hasFallback: all.length > 1,
    async order() {
      if (current > 0 && context.monotonicMs() - leftMs >= BACK_MS) {
        if ((await askReady(first, context.stop))?.ok === true) moveTo(0, 'it is ready again')
        leftMs = context.monotonicMs()
      }
      return [...all.slice(current), ...all.slice(0, current)]
    },
    answered(address, fault) {
      const place = all.indexOf(address)
      if (place !== current) moveTo(place, fault ?? 'the nodes before it do not answer')
    },
  }
}

/** Asks a node whether it accepts drafts; null when it does not answer in time. */
async function askReady(address: URL, stop: AbortSignal): Promise<Response | null> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(READY_MS)])
  const answer = await fetch(new URL('/readyz?for=publish', address), { signal }).catch(() => null)
  await answer?.body?.cancel().catch(() => undefined)
  return answer
}

/**
 * Log id of the first node that answers; null when none does. Read before any draft is sent, so that no two nodes put
 * the same draft into two logs.
 */
async function logOfNodes({ order }: AddressChoice, stop: AbortSignal): Promise<string | null> {
  for (const address of await order()) {
    const log = (await askReady(address, stop))?.headers.get('daybook-log') ?? null
    if (log !== null) return log
  }
  return null
}

/**
 * Asks the nodes in turn, until one answers for all of them. `fault` returns the reason to ask the next node, or null.
 * Returns every answer, the last one last.
 */
async function askInTurn<Answer>(
  addresses: AddressChoice,
  stop: AbortSignal,
  askNode: (address: URL) => Promise<Readonly<{ answer: Answer; fault: string | null }>>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  let lastFault: string | null = null
  for (const address of await addresses.order()) {
    const { answer, fault } = await askNode(address)
    answers.push(answer)
    if (fault === null) addresses.answered(address, lastFault)
    if (fault === null || stop.aborted) break
    lastFault = fault.includes(address.host) ? fault : `${address.host}: ${fault}`
  }
  return answers
}
