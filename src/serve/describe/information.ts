import { ALLOWANCE_REQUESTS, ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'

/** What the service is, in one sentence. */
export const SUBJECT =
  'The open book of a contest and prize platform: one append-only log of final events, and every figure computed from it'

/** What its answers must not be taken for. */
export const NOTICE = 'The data is informational only: it is not advice, a forecast or an offer.'

/** On what terms anyone may ask. */
export const TERMS: string =
  'Read-only: GET, HEAD and OPTIONS; no key and no sign-up; open to every site. ' +
  `${ALLOWANCE_REQUESTS} requests in any ${ALLOWANCE_WINDOW_MS / 1000} seconds per caller address; live data comes by ` +
  '/api/v1/stream. Clients must tolerate new fields and kinds.'
