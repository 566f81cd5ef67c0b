import { ALLOWANCE_REQUESTS, ALLOWANCE_WINDOW_MS } from '../../protocol/parameters.ts'

/** One-sentence description of the service. */
export const SUBJECT =
  'The open book of a contest and prize platform: one append-only log of final events, and every figure computed from it'

/** Disclaimer of the data. */
export const NOTICE = 'The data is informational only: it is not advice, a forecast or an offer.'

/** Terms of use: methods, rate limit, and compatibility. */
export const TERMS: string =
  'Read-only: GET, HEAD and OPTIONS; no key and no sign-up; open to every site. ' +
  `${ALLOWANCE_REQUESTS} requests in any ${ALLOWANCE_WINDOW_MS / 1000} seconds per caller address, unless the ` +
  'operator says otherwise (RateLimit-Policy). Live data comes from /api/v1/stream. Clients must tolerate new ' +
  'fields and kinds.'

/** Meanings of the word *payout*, in Markdown: the platform that Daybook was made for uses it for three things. */
export const PAYOUT_MEANINGS =
  'The word `payout` has three meanings, by the names of the source. In `/events`, a `payout` is a payment: of a ' +
  'prize, a refund or a loyalty reward. `/payouts` lists the prizes that are still unpaid. In `/summary`, `payouts` ' +
  'counts the payments, with refunds and loyalty rewards.'

/** Version of the program, and URL of the licence of the published log (null if none). */
export type DocumentTerms = Readonly<{ version: string; licence: string | null }>

/** Licence of the data for the `info` of a document. The licence of the code does not apply to the data. */
export function licenceOf(
  licence: string | null,
): Readonly<{ license?: Readonly<{ name: string; url: string }> }> {
  return licence === null ? {} : { license: { name: 'Licence of the published data', url: licence } }
}
