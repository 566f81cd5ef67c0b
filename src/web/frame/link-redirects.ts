import { isList, type Parameter } from '../../protocol/parameters.ts'
import { isRepeatable } from '../../serve/query/address.ts'
import { parseQuery } from '../../serve/query/query.ts'
import type { Reply } from '../../serve/http/route.ts'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'

/**
 * Redirect from a form's refused query to the API's syntax; undefined for a query that no form made. Does not repeat a
 * query that the page would refuse again. `parameters` are those of a page that has not checked the query yet.
 */
export function formRedirect(
  path: string,
  rawQuery: string,
  parameters?: readonly Parameter[],
): Reply | undefined {
  const canonical = canonicalQuery(rawQuery)
  if (canonical === rawQuery || !isRepeatable(`${path}?${rawQuery}`)) return undefined
  if (parameters !== undefined && !parseQuery(canonical, parameters).ok) return undefined
  return { is: 'redirect', status: 303, location: `${path}${canonical === '' ? '' : `?${canonical}`}` }
}

/**
 * Query of a form in the API's syntax. Drops blank fields, converts `datetime-local` values to UTC, and joins
 * checkboxes of one list by commas. Returns any other query unchanged.
 */
export function canonicalQuery(raw: string): string {
  const pairs: { name: string; value: string }[] = []
  for (const pair of raw === '' ? [] : raw.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0) return raw
    const name = pair.slice(0, equals)
    const value = pair.slice(equals + 1)
    if (BLANK.test(value)) continue
    const utc = LOCAL_TIME.test(value) ? `${value}Z` : value
    const earlier = LISTS.has(name) ? pairs.find((one) => one.name === name) : undefined
    if (earlier === undefined) pairs.push({ name, value: utc })
    else earlier.value += `,${utc}`
  }
  return pairs.map(({ name, value }) => `${name}=${value}`).join('&')
}

/** Value of a `datetime-local` field, percent-encoded or not. */
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}(?::|%3A)\d{2}(?:(?::|%3A)\d{2}(?:\.\d{1,3})?)?$/i

/** Names of the parameters that take a list. A form has a checkbox for each value. */
const LISTS: ReadonlySet<string> = new Set(
  ENDPOINTS.flatMap(({ parameters }) => parameters.filter(({ form }) => isList(form))).map(
    ({ name }) => name,
  ),
)

/** Value of a blank field: nothing, or blanks in the encoding of a form or a link. */
const BLANK = /^(?:\+|%20)*$/

/** Tracking parameters that other sites, mailers and advertisers add to links. */
const TRACKING: ReadonlySet<string> = new Set(
  `
  __hsfp __hssc __hstc __s _ga _gl _hsenc _hsmi _openstat dclid epik fbclid gad_campaignid
  gad_source gbraid gclid gclsrc hsCtaTracking igsh igshid irclickid li_fat_id mc_cid mc_eid
  mibextid mkt_tok ml_subscriber ml_subscriber_hash msclkid oly_anon_id oly_enc_id rdt_cid
  ref_src ref_url ScCid srsltid ttclid twclid vero_id wbraid wickedid yclid ysclid
  `.match(/\S+/g),
)
const CAMPAIGN = /^utm_\w+$/

/**
 * Redirect of a refused address without its tracking parameters, so that a shared link leads to its page. Keeps all
 * other parameters. Undefined when there are none, or when the rest may contain a wallet address, which no answer
 * repeats.
 */
export function trackingRedirect(path: string, rawQuery: string): Reply | undefined {
  const pairs = rawQuery.split('&')
  const kept = pairs.filter((pair) => !isTracking(pair))
  const location = kept.length === 0 ? path : `${path}?${kept.join('&')}`
  if (kept.length === pairs.length || !isRepeatable(location)) return undefined
  return { is: 'redirect', status: 303, location }
}

function isTracking(pair: string): boolean {
  const [name = ''] = pair.split('=', 1)
  return TRACKING.has(name) || CAMPAIGN.test(name)
}
