import type { ProblemCode } from '../../protocol/problem.ts'

/** Explanation of a problem for a developer: the cause, and what to do. Both are Markdown. */
type ProblemCure = Readonly<{ meaning: string; cure: string }>

/**
 * Explanation of every problem, for the page `/errors` and the answers below `/api/problems`. A code without a row does
 * not compile.
 */
export const PROBLEM_CURES: Readonly<Record<ProblemCode, ProblemCure>> = {
  'invalid-parameter': {
    meaning: 'A value has the wrong form, or is outside its bounds.',
    cure: 'Read `errors`: it names each wrong parameter, and `allowed` lists the values. `/api` has every parameter.',
  },
  'unknown-parameter': {
    meaning: 'The endpoint has no parameter of this name.',
    cure: 'Read `errors`: it suggests the nearest name. Names are case-sensitive.',
  },
  'repeated-parameter': {
    meaning: 'A parameter that takes one value is given twice.',
    cure: 'Send it once. Only the parameters that take a list may have several values.',
  },
  'address-forbidden': {
    meaning:
      'A name or a value looks like a wallet address. It is refused and not repeated. At the publish API the status is 422.',
    cure: 'Search for a transaction, a contest or an event. To publish, remove the address from the draft.',
  },
  'invalid-range': {
    meaning: '`from` is not before `to`.',
    cure: 'Exchange the two, or move `to`. A range includes `from` and excludes `to`.',
  },
  'in-the-future': {
    meaning: 'A moment is later than the present and the newest event.',
    cure: 'Leave `to` or `at` out to ask for the present. Check that your clock and time zone are right.',
  },
  'too-many-buckets': {
    meaning: 'The range has more buckets than one answer holds.',
    cure: 'Use the wider bucket that the member `bucket` names, or split the range.',
  },
  'range-too-long': {
    meaning: 'The range has more days, or more contests that closed, than one answer counts.',
    cure: 'Shorten it to `maxDays` days, or begin at the moment that the member `from` names. Amounts and counts of ranges side by side add up.',
  },
  'cursor-ahead': {
    meaning: 'The cursor is beyond the newest event, whose seq is the member `head`.',
    cure: 'Compare the header `Daybook-Log` with the id that you stored: another id is another log, so start again from 0. With the same id, use the last seq that you received.',
  },
  'bad-request': {
    meaning: 'The request has a body, no `Host` or several, or a target that is no path.',
    cure: 'Send a plain GET or HEAD without a body.',
  },
  'not-found': {
    meaning: 'No resource has this address.',
    cure: 'Look the path up in `/api/v1/openapi.json`. Paths have no slash at their end, and their case matters.',
  },
  'event-not-found': {
    meaning: 'No event has this seq. The member `head` is the newest one.',
    cure: 'Ask for a seq from 1 to `head`. For later ones, follow `/api/v1/stream`.',
  },
  'contest-not-found': {
    meaning: 'No contest has this number.',
    cure: 'Take the number from `id` in `/api/v1/contests`, or from `contestId` of an event.',
  },
  'month-not-found': {
    meaning: 'The archive has no such file. A manifest exists when its month is closed.',
    cure: 'Take the addresses from `/api/v1/archive`. Months are written `2026-07`.',
  },
  'not-witnessed': {
    meaning:
      'No quorum of witnesses has cosigned a checkpoint that covers it. The member `witnessedSeq` is the last event of the newest witnessed checkpoint, or null without one.',
    cure: 'Read `/api/v1/log/witnesses`. With a `Retry-After` witnesses are asked again: wait as many seconds. Without it the log has no witnesses: use `/api/v1/log/checkpoint`, or the receipt without `checkpoint=witnessed`.',
  },
  'method-not-allowed': {
    meaning: 'The public service is read-only.',
    cure: 'Use a method of the header `Allow`: GET, HEAD or OPTIONS.',
  },
  'precondition-failed': {
    meaning:
      'The header `If-Match` does not name the present ETag of the answer, or the answer has a weak one, which `If-Match` never names.',
    cure: 'Read the answer again without `If-Match`. A download that was broken off begins anew.',
  },
  'uri-too-long': {
    meaning: 'Path and query together are too long.',
    cure: 'Shorten the query: give fewer values in a list, and send several requests.',
  },
  'range-not-satisfiable': {
    meaning: 'The header `Range` lies outside the file.',
    cure: 'Read the length in `Content-Range`, and ask for a part of it. A file of that length is complete.',
  },
  'rate-limited': {
    meaning: 'Your address has used its requests of the last minute.',
    cure: 'Wait as many seconds as `Retry-After` says, then send the request again. For live events use `/api/v1/stream`, for history the month files.',
  },
  'too-many-streams': {
    meaning: 'Your address has reached its limit of open streams.',
    cure: 'Close one. A stream with several types replaces several streams, and tabs can share one.',
  },
  'too-many-connections': {
    meaning: 'Your address has reached its limit of open connections. This one is closed.',
    cure: 'Reuse connections (keep-alive), and close idle ones.',
  },
  'stream-capacity': {
    meaning: 'This node has reached its limit of streams.',
    cure: 'Wait as `Retry-After` says. Until then, read `/api/v1/events?after=` with your last seq.',
  },
  'too-many-exports': {
    meaning: 'Your address has reached its limit of whole CSV files at a time.',
    cure: 'Wait until one of them has ended: `Retry-After` says when that is expected. With `limit` the CSV is a page, which is not counted.',
  },
  'export-capacity': {
    meaning: 'This node has reached its limit of whole CSV files.',
    cure: 'Wait as `Retry-After` says. With `limit` the CSV is a page, and the month files below `/api/v1/archive` have everything.',
  },
  'picture-capacity': {
    meaning: 'The queue of link-preview pictures (`.png`) is full, for this node or for your address.',
    cure: 'Wait as `Retry-After` says. The page and its `.svg` have the same figures.',
  },
  'not-made': {
    meaning:
      'The Parquet file of a closed month is made once, soon after the month has closed, and is not there yet.',
    cure: 'Wait as `Retry-After` says. Until then the month files `.jsonl.gz` below `/api/v1/archive` have everything.',
  },
  behind: {
    meaning:
      'This node is one of several, or a mirror, and does not have the event yet: `head` is its newest seq.',
    cure: 'Send the same request again after `Retry-After`, to this node or another. A cursor stays valid.',
  },
  'not-ready': {
    meaning:
      'The node is stopping, or has found its copy of the log to be wrong. To a publisher: 64 requests are in progress, or the body of this one came so slowly that others took its place.',
    cure: 'Send the same request again after `Retry-After`, on another connection. Without `Retry-After`, use another node if you know one, or try again later.',
  },
  'internal-error': {
    meaning: 'Something failed on the side of the service.',
    cure: 'Try again later. If it happens again, tell the operator the id in the header `Daybook-Request`.',
  },
  unauthorized: {
    meaning: 'The publish API got no valid token.',
    cure: 'Send `Authorization: Bearer` and the content of the token file of `serve`.',
  },
  'invalid-draft': {
    meaning: 'A draft breaks the grammar. Nothing of the request is published.',
    cure: 'Read `errors`: it names up to 20 bad drafts, each with its place in the request (counted from 0), its line, its ref, the field and the reason. Correct them, and send the request again with the same refs.',
  },
  'wrong-state': {
    meaning:
      'A draft does not fit the state of its contest, or corrects an event that cannot be corrected. Nothing of the request is published.',
    cure: 'Publish the missing event first, such as `contest/closed` before `prize`. An event is corrected once. While the problem has `held`, drafts are held and the refusal may pass by itself: send the request again later.',
  },
  'insufficient-balance': {
    meaning:
      'An account would go below zero. The detail names the account, its balance and the amount. Nothing of the request is published.',
    cure: 'Publish what fills the account first, such as a deposit into the treasury or a top-up of the pool, or correct the amount. While the problem has `held`, drafts are held and the refusal may pass by itself: send the request again later.',
  },
  'ref-conflict': {
    meaning: 'An earlier draft with other content has this ref.',
    cure: 'Give the new draft a ref of its own. To repeat the old draft, send it unchanged.',
  },
  'another-log': {
    meaning:
      'The header `Daybook-Log` of the request names another log than that of this publish API. Nothing is published.',
    cure: 'Compare the addresses: the publish API and the public service must be of one installation. To publish into this log on purpose, send the id in `Daybook-Log` of this answer, or no such header.',
  },
  'too-large': {
    meaning: 'The request has more drafts or bytes than one request may have.',
    cure: 'Split it. Each request is published whole or not at all, so keep together what belongs together.',
  },
  'unsupported-media-type': {
    meaning: 'The body is neither JSON nor JSON lines, or it is compressed.',
    cure: 'Send `Content-Type: application/json` or `application/x-ndjson`, without `Content-Encoding`.',
  },
  clock: {
    meaning:
      'The clock of the node was set by a minute or more, or the newest event is ahead of it. With several nodes, it may also differ from the clock of the database by 5 seconds or more. Nothing is published.',
    cure: 'Set the clock of the machine. If the clock is right now, start `serve` again, with `--accept-clock` where the newest event is ahead. A difference from the database ends by itself when the clocks agree, and the option does nothing about it.',
  },
  'store-full': {
    meaning: 'The disk of the node is full. Nothing of the request is published.',
    cure: 'Free space on the disk of the data directory, then send the same request with the same refs.',
  },
  'held-full': {
    meaning: 'The node holds 50,000 drafts, its limit. Nothing of the request is published or held.',
    cure: 'Send the same request again after `Retry-After`, when the chain has settled some of them. If their number does not fall, read `daybook held list`.',
  },
  'store-unavailable': {
    meaning:
      'The store accepts no events, because a write failed, a check found a fault, or a file of the store was replaced or removed while the service runs.',
    cure: 'Read the log of the service, and run `daybook check`. Afterwards send the same request with the same refs.',
  },
  'not-leading': {
    meaning:
      'The log has several nodes, and this one does not lead it now. Nothing of the request is published.',
    cure: 'Send the same request to another node at once; `daybook publish --to A,B,C` does. When none leads, one takes over within ten seconds: try again after `Retry-After`.',
  },
  'outcome-unknown': {
    meaning:
      'The leader has sent the drafts to the database of the log, which has not confirmed them in time. They may be published now or later.',
    cure: 'Send the same refs again, to any node, after `Retry-After`. Each draft is published once. Never send them with new refs.',
  },
}
