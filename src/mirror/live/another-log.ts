import type { LogIdentity } from '../../log/store/reader.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { readKeyList } from '../../verify/trust.ts'
import { jsonString, objectsOf, readObject } from '../../verify/reading/json-values.ts'
import { ContradictionError } from '../proof/contradiction.ts'
import { openOrigin, type Origin } from '../origin/open-origin.ts'
import { readKeysBody } from '../origin/origin-answers.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'

/**
 * The error for an origin that has named another log in an answer: a contradiction when its list of keys says so too. A
 * single answer may come from another service behind the same address, and is a failure that may pass.
 */
export async function anotherLog(
  origin: Origin,
  { id }: LogIdentity,
  own: string,
  signal: AbortSignal,
): Promise<ContradictionError | DaybookError> {
  const unchecked = openOrigin(origin.url, origin.around, () => undefined)
  const body = await readKeysBody(unchecked, signal)
  // A malformed list is no word about any log.
  readKeyList(body, NODE_PRIMITIVES)
  const list = readObject('log/keys', body)
  if (jsonString(list['logId']) === id)
    return new DaybookError('another-log', 'the origin answers for two logs')
  await unchecked
    .read('log/checkpoint', { bytesMax: body.length + NOTE_BYTES_MAX }, signal)
    .catch(() => undefined)
  const continued = objectsOf(list['formerLogs'])?.find((log) => log['id'] === id)
  const reason =
    continued === undefined
      ? 'the origin has another log now, which does not continue the mirrored one'
      : `the origin has lost events and begun a new log, which continues the first ${Number(continued['size'])}: --follow-former goes on with it`
  return new ContradictionError(reason, { 'own.checkpoint': own, ...unchecked.shown() })
}

const NOTE_BYTES_MAX = 65_536
