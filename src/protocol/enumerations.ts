// Closed lists of values in answers and queries. They are apart from the endpoints' schemas, because browser scripts
// read these lists and load no schema.

export const CONTEST_STATUSES = ['upcoming', 'running', 'paying', 'paid'] as const
export type ContestStatus = (typeof CONTEST_STATUSES)[number]

/** Orders of `/contests`. */
export const CONTEST_SORTS = ['newest', 'closesAt', 'pool', 'prizesNotRedeemed'] as const
export type ContestSort = (typeof CONTEST_SORTS)[number]

/**
 * Outcome of a contest. `owing`: a correction after its `contest/paid` left prizes of some kind unpaid. `lapsed`: all is
 * settled, and some prizes expired.
 */
export const CONTEST_OUTCOMES = ['cancelled', 'owing', 'lapsed', 'paid'] as const
export type ContestOutcome = (typeof CONTEST_OUTCOMES)[number]

export const UNPAID_STATUSES = ['locked', 'in_review', 'awaiting_claim', 'payable', 'overpaid'] as const
export type UnpaidStatus = (typeof UNPAID_STATUSES)[number]

/** Divisions of the amounts of `/flows`. */
export const FLOW_DIVISIONS = ['kind'] as const

/** Widths of the buckets of `/flows` and `/funds`. */
export const BUCKETS = ['minute', 'hour', 'day', 'week', 'month'] as const
export type Bucket = (typeof BUCKETS)[number]

/** State of a mirror: it follows its origin, has no contact with it, or has stopped for good. */
export const MIRROR_STATES = ['following', 'waiting', 'stopped'] as const

/** Reasons why a mirror waits. `starting`: its origin has shown nothing since its start. */
export const MIRROR_WAITS = ['starting', 'unreachable', 'unusable', 'version', 'disk'] as const

/** State of a witness by its last answers: none yet, it cosigns, it does not answer, or it refuses. */
export const WITNESS_STATES = ['unasked', 'cosigning', 'silent', 'refusing'] as const

/** Checkpoints for a receipt: the newest one, or the newest one with a quorum of cosignatures. */
export const RECEIPT_CHECKPOINTS = ['newest', 'witnessed'] as const
