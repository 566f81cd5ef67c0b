import { isJsonObject } from '../../verify/reading/json-values.ts'
import type { JsonObject } from '../../verify/reading/json-values.ts'
import { printable } from '../terminal/output.ts'
import { CommandError } from '../terminal/world.ts'
import type { DoorAccess } from './publish-door.ts'

/** Milliseconds in which the door must answer: a decision waits for a commit. */
const ANSWER_MS = 60_000

/** Asks the private listener about held drafts: GET, or POST with a body. Throws a CommandError unless it answers. */
export async function askHeld(
  { address, token, stop }: DoorAccess,
  path: string,
  body: JsonObject | null,
): Promise<JsonObject> {
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
  const response = await fetch(new URL(path, address), { ...request, signal }).catch((cause: unknown) => {
    const reason = stop.aborted
      ? 'stopped; the outcome of the request is unknown'
      : `the publish door at ${address.host} cannot be reached`
    throw new CommandError(1, reason, { cause })
  })
  // Every site may read the public listener; none the door.
  if (response.headers.has('access-control-allow-origin')) {
    throw new CommandError(
      1,
      `${address.host} is the public listener: give --to the address of the publish door`,
    )
  }
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok && isJsonObject(answer)) return answer
  const detail = isJsonObject(answer) ? answer['detail'] : undefined
  const reason =
    typeof detail === 'string'
      ? printable(detail)
      : 'the program that answered is not a publish door: check --to'
  throw new CommandError(1, reason)
}
