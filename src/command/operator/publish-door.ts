import { printable } from '../terminal/output.ts'
import { CommandError, tell, type CommandContext } from '../terminal/command-context.ts'
import { readToken } from './token-file.ts'
import { pause } from '../terminal/pause.ts'
import { readAddress } from '../terminal/log-address.ts'

/** Most attempts of one request while the door cannot be reached or is full, and the wait between them. */
const TRIES_MAX = 5
const RETRY_MS = 1_000
/** Time for the answer of a door with a fallback. A node that hangs would keep the drafts from the next one. */
const ANSWER_MS = 15_000
/** Status by which the server of a door gives up a request that stops on its way. A door that is late counts as one. */
export const STOPPED_ON_ITS_WAY = 408

/**
 * Publish doors of the nodes of a log, the token that opens them, the id of the log that they must belong to (null for
 * any), and the signal that stops the command.
 */
export type DoorAccess = Readonly<{
  doors: DoorChoice
  token: string
  log: string | null
  stop: AbortSignal
  /** Time in which a door with a fallback must answer; `ANSWER_MS` if absent. */
  answerMs?: number
}>

/** Outcome of one draft. */
export type DoorReceipt = Readonly<{ ref: string; status: string; seq: number | null }>

/** A bad draft of a request: its index, the field at fault, and the reason. */
type BadDraft = Readonly<{ draft: number; field: string; reason: string }>

/** Reason why a request failed, with the index of the first bad draft and its field, if there is one. */
export type DoorFailure = Readonly<{
  draft: number | null
  field: string | null
  reason: string
  /** Further bad drafts that the door names, in their order. */
  others: readonly BadDraft[]
  /** Whether the drafts may be published all the same. */
  isInDoubt: boolean
  /** HTTP status of the refusal; 408 also when a door was late; null when no whole answer came. */
  status: number | null
  /** Time in milliseconds after which the door asks for a retry; null when it names none. */
  retryMs: number | null
  /** Number of held drafts, when the refusal may pass once they are settled. */
  held: number
  /** Id of the door's log, when the door refused because it is not the expected one. */
  otherLog: string | null
}>

/** Answer of the publish door to one request. */
export type DoorAnswer = Readonly<
  { ok: true; receipts: readonly DoorReceipt[]; log: string | null } | { ok: false; failure: DoorFailure }
>

/** Reads the addresses and the token of publish doors from the user's options. Sends nothing. */
export function openDoor(to: string, tokenFile: string, context: CommandContext): DoorAccess {
  return { doors: openDoorChoice(to, context), token: readToken(tokenFile), log: null, stop: context.stop }
}

/**
 * Sends drafts, one a line, in one request: all or nothing. Repeats it for some seconds while the door cannot be reached
 * or is full. A retry never publishes an event twice.
 */
export async function sendDrafts(door: DoorAccess, lines: readonly string[]): Promise<DoorAnswer> {
  let wasInDoubt = false
  for (let attempt = 1; ; attempt++) {
    const answer = await askDoor(door, lines)
    if (answer.ok) return answer
    const { failure } = answer
    const { status, retryMs } = failure
    const mayPass = status === null || [STOPPED_ON_ITS_WAY, 503, 507].includes(status)
    if (attempt === TRIES_MAX || door.stop.aborted || !mayPass)
      return wasInDoubt ? { ok: false, failure: doubtful(failure) } : answer
    wasInDoubt ||= failure.isInDoubt
    await pause(retryMs ?? RETRY_MS, door.stop)
  }
}

/** The failure of the last attempt, after one of which nobody knows the outcome. */
function doubtful(failure: DoorFailure): DoorFailure {
  const reason = `${failure.reason}; an earlier attempt may have published them: send the same refs again`
  return { ...failure, reason, isInDoubt: true }
}

/**
 * Sends drafts, one a line, in one request, once to each door until one answers for the log. A door that cannot be reached
 * or that is not ready may have published them: the next one gets the same refs, so nothing is published twice.
 */
export async function askDoor(door: DoorAccess, lines: readonly string[]): Promise<DoorAnswer> {
  const { doors, stop } = door
  const log = door.log ?? (doors.hasFallback ? await logOfDoors(doors, stop) : null)
  const answers = await askInTurn(doors, stop, async (address): Promise<DoorTurn<DoorAnswer>> => {
    const answer = await askOne({ ...door, log, address }, lines)
    return { answer, fault: answer.ok || !concernsNode(answer.failure) ? null : answer.failure.reason }
  })
  const last = answers.at(-1) ?? failed({ status: null, isInDoubt: false }, 'no publish door was asked')
  if (last.ok || answers.length === 1 || !concernsNode(last.failure)) return last
  const failures = answers.flatMap((answer) => (answer.ok ? [] : [answer.failure]))
  const reason = [...new Set(failures.map((failure) => failure.reason))].join('; ')
  // A request that one door gets too slowly must be halved, also when the doors after it are away.
  const isStopped = failures.some(({ status }) => status === STOPPED_ON_ITS_WAY)
  const status = isStopped ? STOPPED_ON_ITS_WAY : last.failure.status
  const isInDoubt = failures.some((failure) => failure.isInDoubt)
  return { ok: false, failure: { ...last.failure, reason, status, isInDoubt } }
}

/** Whether a failure is of one node, so that another may take the drafts. They may be published all the same. */
export function concernsNode({ status }: DoorFailure): boolean {
  return status === null || status === STOPPED_ON_ITS_WAY || status >= 500
}

/** One door, and the log that it must belong to. */
type OneDoor = DoorAccess & Readonly<{ address: URL }>

async function askOne(door: OneDoor, lines: readonly string[]): Promise<DoorAnswer> {
  const response = await post(door, lines)
  if (response === null) return unanswered(door, 'cannot be reached', { status: null, isInDoubt: false })
  // Nobody can tell a door that hangs from a link that is too slow for the request.
  if (response === 'late')
    return unanswered(door, `did not answer within ${(door.answerMs ?? ANSWER_MS) / 1_000} s`, {
      status: STOPPED_ON_ITS_WAY,
      isInDoubt: true,
    })
  const answer = await readDoorAnswer(response)
  if (answer === undefined) return unanswered(door, 'broke off its answer', { status: null, isInDoubt: true })
  const receipts = listIn(answer, 'drafts')
  const log = response.headers.get('daybook-log')
  if (response.ok && receipts.length === lines.length) {
    return { ok: true, receipts: receipts.map(receiptOf), log }
  }
  // Every site may read the public listener; none the door.
  if (response.headers.has('access-control-allow-origin')) {
    return failed(
      { status: response.status, isInDoubt: false },
      `${door.address.host} is the public listener: give --to the address of the publish door`,
    )
  }
  if (response.status === STOPPED_ON_ITS_WAY)
    return unanswered(door, 'did not get the whole request in time', {
      status: response.status,
      isInDoubt: false,
    })
  if (fieldIn(answer, 'code') === 'another-log') {
    const reason = `${door.address.host} belongs to another log (${printable(log ?? '')}) than the service (${door.log}): check --url and --to`
    return failed({ status: response.status, isInDoubt: false }, reason, log)
  }
  return { ok: false, failure: failureOf(response, answer) }
}

/** End of a request as its status and whether it may have been carried out. */
type End = Pick<DoorFailure, 'status' | 'isInDoubt'>

function unanswered({ address, stop }: OneDoor, fault: string, end: End): DoorAnswer {
  return failed(
    end,
    stop.aborted
      ? 'stopped; the outcome of the last request is unknown'
      : `the publish door at ${address.host} ${fault}`,
  )
}

function failed(end: End, reason: string, otherLog: string | null = null): DoorAnswer {
  return {
    ok: false,
    failure: { draft: null, field: null, reason, others: [], ...end, retryMs: null, held: 0, otherLog },
  }
}

/** Sends one request; null when nothing answers, and `late` when a door with a fallback took too long. */
async function post(
  { address, doors, token, log, stop, answerMs = ANSWER_MS }: OneDoor,
  lines: readonly string[],
): Promise<Response | 'late' | null> {
  const limit = doors.hasFallback ? AbortSignal.timeout(answerMs) : null
  try {
    return await fetch(new URL('/publish', address), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        ...(log === null ? {} : { 'daybook-log': log }),
      },
      body: lines.join('\n'),
      signal: limit === null ? stop : AbortSignal.any([stop, limit]),
    })
  } catch {
    return limit?.aborted === true && !stop.aborted ? 'late' : null
  }
}

function receiptOf(receipt: unknown): DoorReceipt {
  const [ref, status, seq] = ['ref', 'status', 'seq'].map((name) => fieldIn(receipt, name))
  return {
    ref: typeof ref === 'string' ? ref : '',
    status: typeof status === 'string' ? status : '',
    seq: typeof seq === 'number' ? seq : null,
  }
}

function failureOf({ status, headers }: Response, answer: unknown): DoorFailure {
  const [first, ...others] = listIn(answer, 'errors').flatMap(badDraftOf)
  const [detail, held] = [fieldIn(answer, 'detail'), fieldIn(answer, 'held')]
  const retrySeconds = headers.get('retry-after') ?? ''
  const common = {
    status,
    isInDoubt: fieldIn(answer, 'code') === 'outcome-unknown',
    retryMs: /^\d{1,6}$/.test(retrySeconds) ? Number(retrySeconds) * 1_000 : null,
    held: typeof held === 'number' ? held : 0,
    otherLog: null,
  }
  if (first !== undefined) return { ...first, others, ...common }
  const reason =
    typeof detail === 'string' ? detail : 'the program that answered is not a publish door: check --to'
  return { draft: null, field: null, reason, others, ...common }
}

function badDraftOf(error: unknown): readonly BadDraft[] {
  const [draft, field, reason] = ['draft', 'field', 'message'].map((name) => fieldIn(error, name))
  const isWhole = typeof draft === 'number' && typeof field === 'string' && typeof reason === 'string'
  return isWhole ? [{ draft, field, reason }] : []
}

function fieldIn(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = fieldIn(value, name)
  return Array.isArray(list) ? list : []
}

/** Publish doors that one command may name. */
const DOORS_MAX = 8
/** Time at a fallback after which the first door is asked whether it takes drafts again. */
const BACK_MS = 60_000
/** Time limit of that question. */
const READY_MS = 1_000

/** Publish doors of the nodes of one log. Requests go to one of them as long as it answers. */
type DoorChoice = Readonly<{
  /** The address that messages name. */
  first: URL
  /** Whether there is a fallback. */
  hasFallback: boolean
  /** The addresses, in the order in which the next request tries them. */
  order(): Promise<readonly URL[]>
  /** Must be called with the door that answered. `fault` says why a request left the one before it. */
  answered(address: URL, fault: string | null): void
}>

const DOOR = { what: 'the address of the publish door with --to', example: 'http://127.0.0.1:8081' }

/**
 * Opens the choice between the doors of `--to`: the first, and its fallbacks. Tells of each change. A command that is at a
 * fallback goes back to the first door when that one is ready again.
 */
export function openDoorChoice(to: string, context: CommandContext): DoorChoice {
  const doors = to.split(',').map((text) => readAddress(text.trim(), DOOR))
  if (doors.length > DOORS_MAX) throw new CommandError(2, `--to takes at most ${DOORS_MAX} addresses`)
  let current = 0
  let leftMs = 0

  function moveTo(place: number, why: string): void {
    current = place
    leftMs = context.monotonicMs()
    tell(context, `using the publish door at ${doors[place]?.host ?? ''} now: ${why}`)
  }

  return {
    first: doors[0] ?? readAddress('', DOOR),
    hasFallback: doors.length > 1,
    async order() {
      const [first] = doors
      if (current > 0 && first !== undefined && context.monotonicMs() - leftMs >= BACK_MS) {
        if (await isReady(first, context.stop)) moveTo(0, 'it is ready again')
        leftMs = context.monotonicMs()
      }
      return [...doors.slice(current), ...doors.slice(0, current)]
    },
    answered(address, fault) {
      const place = doors.indexOf(address)
      if (place !== current) moveTo(place, fault ?? 'the doors before it do not answer')
    },
  }
}

/** Whether a door says that it takes drafts. */
async function isReady(door: URL, stop: AbortSignal): Promise<boolean> {
  const answer = await askReady(door, stop)
  return answer !== null && answer.ok
}

/** Asks a door whether it takes drafts; null when it does not answer in time. */
async function askReady(door: URL, stop: AbortSignal): Promise<Response | null> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(READY_MS)])
  const answer = await fetch(new URL('/readyz?for=publish', door), { signal }).catch(() => null)
  await answer?.body?.cancel().catch(() => undefined)
  return answer
}

/**
 * Id of the log of the first door that answers; null when none does. Before any draft is sent, so that no two doors can
 * put the same draft into two logs.
 */
async function logOfDoors({ order }: DoorChoice, stop: AbortSignal): Promise<string | null> {
  for (const door of await order()) {
    const log = (await askReady(door, stop))?.headers.get('daybook-log') ?? null
    if (log !== null) return log
  }
  return null
}

/** Result of a question to one door: `fault` says why the next door is asked, and is null when it is not. */
export type DoorTurn<Answer> = Readonly<{ answer: Answer; fault: string | null }>

/** Asks the doors in turn, until one answers for all of them. Returns every answer, the last one last. */
export async function askInTurn<Answer>(
  choice: DoorChoice,
  stop: AbortSignal,
  ask: (door: URL) => Promise<DoorTurn<Answer>>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  let lastFault: string | null = null
  for (const door of await choice.order()) {
    const { answer, fault } = await ask(door)
    answers.push(answer)
    if (fault === null) choice.answered(door, lastFault)
    if (fault === null || stop.aborted) break
    lastFault = fault.includes(door.host) ? fault : `${door.host}: ${fault}`
  }
  return answers
}

/** JSON of a whole answer of a door; null when it is none, as of another program. Undefined when the answer breaks off. */
export async function readDoorAnswer(response: Response): Promise<unknown> {
  const body = await response.text().catch(() => undefined)
  if (body === undefined) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
