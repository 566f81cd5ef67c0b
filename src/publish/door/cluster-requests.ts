import type { FailedOutcome } from '../admission/outcome.ts'
import type { SharedLog } from '../cluster/shared-log.ts'
import { doorRefusal } from './door-replies.ts'

/** Steps of the operator of a log that an engine carries. */
export type ClusterSteps = Pick<SharedLog, 'roll'>

/** Paths of these steps, each with its method. */
export const CLUSTER_PATHS: ReadonlyMap<string, 'POST'> = new Map([['/cluster/roll', 'POST']])

/** Answers `POST /cluster/roll`: the stream in which the log goes on. */
export async function clusterRequest(
  steps: ClusterSteps | null,
  query: string | null,
): Promise<Readonly<{ ok: true; answer: object }> | FailedOutcome> {
  if (query !== null) return doorRefusal('unknown-parameter', 'a step takes no parameters')
  if (steps === null) return doorRefusal('wrong-state', 'the log of this node is on no engine')
  const rolled = await steps.roll()
  if (!rolled.ok) return rolled
  const { stream, head } = rolled
  return { ok: true, answer: { stream, head } }
}
