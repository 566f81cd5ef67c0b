import { SIGNING_KEYS_MAX } from '../../log/tree/signing-keys.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { SharedLog } from '../cluster/shared-log.ts'
import type { PlacedRequest } from './door-replies.ts'
import { readJsonBody } from './door-replies.ts'
import { doorRefusal } from '../admission/outcome.ts'

/** Steps of the operator of a log that an engine carries. */
export type ClusterSteps = Pick<SharedLog, 'roll' | 'changeKeys' | 'raiseVersion'>

type Answered = Readonly<{ ok: true; answer: object }> | FailedOutcome

/** Paths of these steps, each with its method. */
export const CLUSTER_PATHS: ReadonlyMap<string, 'POST'> = new Map([
  ['/cluster/roll', 'POST'],
  ['/cluster/keys', 'POST'],
  ['/cluster/version', 'POST'],
])

/** Bytes of the largest list of keys. */
const KEYS_BYTES_MAX = 4096

/** Answers a step: the stream in which the log goes on, the keys that sign it, or the version of its messages. */
export async function clusterRequest(
  steps: ClusterSteps | null,
  request: PlacedRequest,
  [path, query]: readonly [path: string, query: string | null],
): Promise<Answered> {
  if (query !== null) return doorRefusal('unknown-parameter', 'a step takes no parameters')
  if (steps === null) return doorRefusal('wrong-state', 'the log of this node is on no engine')
  switch (path) {
    case '/cluster/keys':
      return answerOf(await changeKeys(steps, request))
    case '/cluster/version':
      return answerOf(await steps.raiseVersion())
    default:
      return answerOf(await steps.roll())
  }
}

function answerOf(outcome: Readonly<{ ok: true }> | FailedOutcome): Answered {
  if (!outcome.ok) return outcome
  const { ok, ...answer } = outcome
  return { ok, answer }
}

async function changeKeys(
  steps: ClusterSteps,
  request: PlacedRequest,
): Promise<Readonly<{ ok: true }> | FailedOutcome> {
  const body = await readJsonBody(request, 'a list of keys', KEYS_BYTES_MAX)
  if (!body.ok) return body
  const { vkeys, ...others } = body.value
  if (Object.keys(others).length > 0)
    return doorRefusal('unknown-parameter', 'a change of keys has the key vkeys')
  const isList = Array.isArray(vkeys) && vkeys.length >= 1 && vkeys.length <= SIGNING_KEYS_MAX
  if (!isList || !vkeys.every((vkey) => typeof vkey === 'string') || new Set(vkeys).size < vkeys.length) {
    return {
      ...doorRefusal('invalid-parameter', `must be a list of 1 to ${SIGNING_KEYS_MAX} different vkeys`),
      field: 'vkeys',
    }
  }
  return await steps.changeKeys(vkeys)
}
