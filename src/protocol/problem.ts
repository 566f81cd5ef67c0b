/** Error codes of the public API. */
export const READING_PROBLEMS = {
  'invalid-parameter': { status: 400, title: 'A parameter is not valid' },
  'unknown-parameter': { status: 400, title: 'A parameter is not known here' },
  'repeated-parameter': { status: 400, title: 'A parameter is given more than once' },
  'address-forbidden': { status: 400, title: 'What was sent looks like a wallet address' },
  'invalid-range': { status: 400, title: 'The range is empty or backwards' },
  'in-the-future': { status: 400, title: 'The moment lies in the future' },
  'too-many-buckets': { status: 400, title: 'The range holds too many buckets' },
  'range-too-long': { status: 400, title: 'The range is too long' },
  'cursor-ahead': { status: 400, title: 'The cursor is ahead of the head of the log' },
  'bad-request': { status: 400, title: 'The request is not well formed' },
  'not-found': { status: 404, title: 'There is nothing at this address' },
  'event-not-found': { status: 404, title: 'No event has this seq' },
  'contest-not-found': { status: 404, title: 'No contest has this number' },
  'month-not-found': { status: 404, title: 'There is no such month in the archive' },
  'not-witnessed': { status: 404, title: 'No quorum of witnesses vouches for it yet' },
  'method-not-allowed': { status: 405, title: 'Only GET, HEAD and OPTIONS are allowed' },
  'precondition-failed': { status: 412, title: 'The answer is another than the request names' },
  'uri-too-long': { status: 414, title: 'The address is too long' },
  'range-not-satisfiable': { status: 416, title: 'The range lies outside the file' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'too-many-streams': { status: 429, title: 'Too many streams from this address' },
  'too-many-exports': { status: 429, title: 'Too many whole CSV files at a time to this address' },
  'too-many-connections': { status: 429, title: 'Too many connections from this address' },
  'stream-capacity': { status: 503, title: 'This node has reached its limit of streams' },
  'export-capacity': { status: 503, title: 'This node has reached its limit of whole CSV files' },
  'picture-capacity': { status: 503, title: 'Too many pictures wait to be drawn' },
  'not-made': { status: 503, title: 'The Parquet file is not made yet' },
  behind: { status: 503, title: 'This node may be behind the log' },
  'not-ready': { status: 503, title: 'The service is not ready' },
  'internal-error': { status: 500, title: 'Something failed on our side' },
} as const

/** Error codes of the private listener alone. */
export const PUBLISHING_PROBLEMS = {
  unauthorized: { status: 401, title: 'A valid token is required' },
  'invalid-draft': { status: 400, title: 'A draft is not valid' },
  'wrong-state': { status: 409, title: 'The draft does not fit the state of the books' },
  'insufficient-balance': { status: 409, title: 'A balance would go below zero' },
  'ref-conflict': { status: 409, title: 'This ref was used for another draft' },
  'another-log': { status: 409, title: 'The publish API belongs to another log' },
  'too-large': { status: 413, title: 'The request is too large' },
  'unsupported-media-type': { status: 415, title: 'The media type is not supported' },
  clock: { status: 503, title: 'The clock of the node is wrong' },
  'store-full': { status: 507, title: 'The store is full' },
  'held-full': { status: 503, title: 'Too many drafts are held' },
  'store-unavailable': { status: 503, title: 'The store does not accept events' },
  // Codes of a node of several.
  'not-leading': { status: 503, title: 'Another node leads the log' },
  'outcome-unknown': { status: 503, title: 'It is not known yet whether the drafts were published' },
} as const

/** All error codes. They are stable, in kebab-case, and the last part of `type`. */
export const PROBLEMS: typeof READING_PROBLEMS & typeof PUBLISHING_PROBLEMS = {
  ...READING_PROBLEMS,
  ...PUBLISHING_PROBLEMS,
}

export type ProblemCode = keyof typeof PROBLEMS

/** Fault of one parameter or field. Never repeats the sent value. */
export type ParameterFault = Readonly<{ parameter: string; message: string; allowed?: readonly string[] }>

/** Error in our own terms, from which `serve/http/problem-document.ts` makes an RFC 9457 document. */
export type Problem = Readonly<{
  code: ProblemCode
  detail: string
  errors?: readonly ParameterFault[]
  /** Further members of the document, such as `requested` and `max`. */
  members?: Readonly<Record<string, unknown>>
  /** Whole seconds for `Retry-After`. */
  retryAfterSeconds?: number
}>

/** Problem of a contest that does not exist. */
export const NO_CONTEST: Problem = {
  code: 'contest-not-found',
  detail: 'The contests and their numbers are listed at `/api/v1/contests`.',
}

/** Whole number from 1, also one beyond every seq. */
const FROM_ONE = /^[1-9]\d*$/

/** Problem of a seq in a path that no event has. The head shows whether the event may still come. */
export function noEvent(head: number, text: string | undefined): Problem {
  const newest = head === 0 ? 'The log has no event yet.' : `The newest event is ${head}.`
  const detail = FROM_ONE.test(text ?? '') ? newest : '`seq` must be a whole number from 1.'
  return { code: 'event-not-found', detail, members: { head } }
}

/** Problem of an `If-Match` that does not name the answer's ETag. */
export const PRECONDITION_FAILED: Problem = {
  code: 'precondition-failed',
  detail:
    '`If-Match` does not name the present ETag of this answer. It names no weak ETag: the comparison is strong.',
}

/** Result of parsing outside text: a value or a problem, never an exception. */
export type Parsed<T> = Readonly<{ ok: true; value: T }> | Readonly<{ ok: false; problem: Problem }>

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value }
}

export function refused(problem: Problem): Readonly<{ ok: false; problem: Problem }> {
  return { ok: false, problem }
}
