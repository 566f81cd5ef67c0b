import { SECOND_MS } from '../../protocol/moment.ts'

/** Milliseconds by which a moment in a query may be later than the clock of a node that follows a log. */
export const CLOCK_TOLERANCE_MS: number = 5 * SECOND_MS
/** Milliseconds that a request waits for a seq at most. */
export const BEHIND_WAIT_MS_MAX: number = 5 * SECOND_MS
/** Waiting requests of one caller. */
export const BEHIND_WAITS_PER_CALLER = 10
/** Waiting requests of the node. */
export const BEHIND_WAITS_PER_NODE = 1_000
/** Seconds after which a refused request may be sent again. */
export const BEHIND_RETRY_SECONDS = 2
