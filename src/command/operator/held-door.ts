import { isJsonObject, type JsonObject } from '../../verify/reading/json-values.ts'
import { printable } from '../terminal/output.ts'
import { CommandError } from '../terminal/world.ts'
import { askInTurn, type DoorTurn, readDoorAnswer } from './door-choice.ts'
import type { DoorAccess } from './publish-door.ts'

/** Milliseconds in which the door must answer: a decision waits for a commit. */
const ANSWER_MS = 60_000

/** Answer of one door: its object, or why there is none. `status` is null when no whole answer came. */
type HeldAnswer = Readonly<
  { ok: true; answer: JsonObject } | { ok: false; status: number | null; reason: string }
>

/**
 * Asks the private listener about held drafts: GET, or POST with a body. Goes on to the next door when one cannot be
 * reached or is not ready: a repeated decision changes nothing. Throws a CommandError unless one answers.
 */
export async function askHeld(door: DoorAccess, path: string, body: JsonObject | null): Promise<JsonObject> {
  const answers = await askInTurn(door.doors, door.stop, async (address): Promise<DoorTurn<HeldAnswer>> => {
    const answer = await askOne(door, new URL(path, address), body)
    const isOfNode = !answer.ok && (answer.status === null || answer.status >= 500)
    return { answer, fault: isOfNode ? answer.reason : null }
  })
  const last = answers.at(-1)
  if (last?.ok === true) return last.answer
  throw new CommandError(1, last?.reason ?? 'no publish door was asked')
}

async function askOne(
  { token, stop }: DoorAccess,
  address: URL,
  body: JsonObject | null,
): Promise<HeldAnswer> {
  const headers = { authorization: `Bearer ${token}` }
  const signal = AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)])
  const request =
    body === null
      ? { headers }
      : {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }
  const unanswered = (fault: string): HeldAnswer => {
    const reason = stop.aborted
      ? 'stopped; the outcome of the request is unknown'
      : `the publish door at ${address.host} ${fault}`
    return { ok: false, status: null, reason }
  }
  const response = await fetch(address, { ...request, signal }).catch(() => null)
  if (response === null) return unanswered('cannot be reached')
  const { status } = response
  // Every site may read the public listener; none the door.
  if (response.headers.has('access-control-allow-origin')) {
    const reason = `${address.host} is the public listener: give --to the address of the publish door`
    return { ok: false, status, reason }
  }
  const answer = await readDoorAnswer(response)
  if (answer === undefined) return unanswered('broke off its answer')
  if (response.ok && isJsonObject(answer)) return { ok: true, answer }
  const detail = isJsonObject(answer) ? answer['detail'] : undefined
  const reason =
    typeof detail === 'string'
      ? printable(detail)
      : 'the program that answered is not a publish door: check --to'
  return { ok: false, status, reason }
}
