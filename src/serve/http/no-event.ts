import type { Problem } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'

/** Whole number from 1, also one beyond every seq. */
const FROM_ONE = /^[1-9]\d*$/

/** Problem of a path's seq that no event has. The head shows whether the event is still to come. */
export function noEvent(head: Seq, text: string | undefined): Problem {
  const newest = head === 0 ? 'The log has no event yet.' : `The newest event is ${head}.`
  const detail = FROM_ONE.test(text ?? '') ? newest : '`seq` must be a whole number from 1.'
  return { code: 'event-not-found', detail, members: { head } }
}
