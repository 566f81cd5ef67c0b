import { isRepeatable } from '../../serve/query/address.ts'
import type { Reply } from '../../serve/http/route.ts'

/** Parameters that other sites, mailers and advertisers add to the links that they send people along. */
const TRACKING: ReadonlySet<string> = new Set([
  '__hsfp',
  '__hssc',
  '__hstc',
  '__s',
  '_ga',
  '_gl',
  '_hsenc',
  '_hsmi',
  '_openstat',
  'dclid',
  'epik',
  'fbclid',
  'gad_campaignid',
  'gad_source',
  'gbraid',
  'gclid',
  'gclsrc',
  'hsCtaTracking',
  'igsh',
  'igshid',
  'irclickid',
  'li_fat_id',
  'mc_cid',
  'mc_eid',
  'mibextid',
  'mkt_tok',
  'ml_subscriber',
  'ml_subscriber_hash',
  'msclkid',
  'oly_anon_id',
  'oly_enc_id',
  'rdt_cid',
  'ref_src',
  'ref_url',
  'ScCid',
  'srsltid',
  'ttclid',
  'twclid',
  'vero_id',
  'wbraid',
  'wickedid',
  'yclid',
  'ysclid',
])
const CAMPAIGN = /^utm_\w+$/

/**
 * Redirect of a refused address past its tracking parameters, so that a shared link leads to its page. All others stay as
 * they are. Undefined when there are none, or when the rest may hold a wallet address, which no answer repeats.
 */
export function trackingRedirect(path: string, rawQuery: string): Reply | undefined {
  const pairs = rawQuery.split('&')
  const kept = pairs.filter((pair) => !isTracking(pair))
  const location = kept.length === 0 ? path : `${path}?${kept.join('&')}`
  if (kept.length === pairs.length || !isRepeatable(location)) return undefined
  return { is: 'elsewhere', status: 303, location }
}

function isTracking(pair: string): boolean {
  const [name = ''] = pair.split('=', 1)
  return TRACKING.has(name) || CAMPAIGN.test(name)
}
