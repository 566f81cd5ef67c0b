import { type Ms, msOf } from '../../protocol/moment.ts'
import type { Mirror } from '../../protocol/endpoints/description-endpoints.ts'
import { ADDRESS_PROMISE } from '../../protocol/address-guard.ts'

/** Operator's settings for the pages. */
export type Site = Readonly<{
  /** Public base URL without a final slash, used for requests to any host. */
  url: string
  /** Name in every title and at the top of every page. */
  name: string
  /** The token's symbol, the unit of every amount. */
  token: string
  /** Public block explorers. Two or more, so that readers need not trust one. */
  explorers: readonly Explorer[]
  /** URL of the licence of the published log; null if none. */
  licence: string | null
  /** Seconds for which a shared cache may keep a page; null for none. */
  pageCacheSeconds: number | null
  /** Contact address, `https:` or `mailto:`; null if none. */
  contact: string | null
  /** Start of the service, at which the operator confirms these settings. */
  startedAt: Ms
  /** Report of a mirror about itself; absent on a node that is no mirror. */
  mirror?: () => Mirror | null
}>

/** Base of addresses for search engines. A mirror's pages are copies of its origin's. */
export function canonicalBase({ url, mirror }: Site): string {
  return mirror?.()?.of ?? url
}

/** Block explorer: its host, and the URL of a transaction with `{tx}` for its id. */
export type Explorer = Readonly<{ host: string; template: string }>

export const DEFAULT_SITE: Site = {
  url: 'https://daybook.example',
  name: 'Daybook',
  token: 'KOTS',
  explorers: [],
  licence: null,
  pageCacheSeconds: null,
  contact: null,
  startedAt: msOf(0),
}

const TX = '{tx}'
/** Placeholder for `{tx}` while a URL is parsed, because parsing would encode the braces. */
const SAMPLE = 'id-of-a-transaction'

/** Parses a template; undefined unless it is an `https:` URL that has `{tx}` outside its host. */
export function parseExplorer(text: string): Explorer | undefined {
  const url = URL.parse(text.replaceAll(TX, SAMPLE))
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    return undefined
  const template = url.href.replaceAll(SAMPLE, TX)
  return url.host.includes(SAMPLE) || !template.includes(TX) ? undefined : { host: url.host, template }
}

/** URL of a transaction at an explorer. */
export function addressAt({ template }: Explorer, tx: string): string {
  return template.replaceAll(TX, encodeURIComponent(tx))
}

/** Notice on every page. */
export const PAGE_NOTICE: string = `Informational only. Not advice, a forecast or an offer. ${ADDRESS_PROMISE}`
