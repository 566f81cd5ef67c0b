import type { Seq } from '../../protocol/seq.ts'
import { type Problem, PROBLEMS } from '../../protocol/problem.ts'
import { cursorAhead } from '../api/events-range.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type Step, stepRefusal } from './visit.ts'
import { BEHIND_RETRY_SECONDS, BEHIND_WAIT_MS_MAX } from '../following/following-limits.ts'
import type { Following } from '../following/head-waits.ts'
import { EVENT_PATHS, neededSeq } from '../following/needed-seq.ts'

/**
 * Opens the step that lets a request wait for a seq that this node does not have yet. The request then goes on, or is
 * refused as `behind`. A seq that the whole log does not have goes on at once, and its route refuses it.
 */
export function openBehindStep(following: Following | null, metrics: Pick<Metrics, 'behind'>): Step {
  if (following === null) return () => undefined
  const { reader, waits, waitMsMax = BEHIND_WAIT_MS_MAX } = following
  return ({ found, rawQuery, caller, response }) => {
    if (found === undefined || found.route.streaming === true) return undefined
    const seq = neededSeq(found, rawQuery)
    if (seq === undefined || waits.isHere(seq)) return undefined
    const wait = { seq, caller, msMax: waitMsMax, placeOnly: false }
    return waits.wait(wait, response).then((place) => {
      if (place.is === 'here') return undefined
      if (place.is !== 'nowhere') {
        response.once('close', () => {
          if (response.headersSent && response.statusCode === PROBLEMS.behind.status) metrics.behind.inc()
        })
        return stepRefusal(behind(reader.head().seq))
      }
      // Its route would name this node's head. The head of the whole log tells a mirror of this node more.
      return found.segments['seq'] === undefined && EVENT_PATHS.has(found.route.path)
        ? stepRefusal(cursorAhead(place.head))
        : undefined
    })
  }
}

/** Problem of a request for a seq that this node does not have yet. */
function behind(head: Seq): Problem {
  return {
    code: 'behind',
    detail:
      'This node is behind the event that you ask for. Send the same request again, to this node or another.',
    members: { head },
    retryAfterSeconds: BEHIND_RETRY_SECONDS,
  }
}
