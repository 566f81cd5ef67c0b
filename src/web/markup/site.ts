/** What an operator says of the site; the log says the rest. */
export type Site = Readonly<{
  /** Its address, without a slash at its end: what pages, feeds and calendars name wherever they are asked for. */
  url: string
  /** Stands in every title and at the top of every page. */
  name: string
  /** The token's symbol, the unit of every amount. */
  token: string
  /** Public explorers: two or more, so that nobody has to trust one. */
  explorers: readonly Explorer[]
  /** The address of the licence of what is published; null when none is stated. */
  licence: string | null
  /** An address that people may write to, `https:` or `mailto:`; null when none is stated. */
  contact: string | null
}>

/** A site that shows transactions: its host, and the address of one, with `{tx}` wherever its id stands. */
export type Explorer = Readonly<{ host: string; template: string }>

export const DEFAULT_SITE: Site = {
  url: 'https://daybook.example',
  name: 'Daybook',
  token: 'KOTS',
  explorers: [],
  licence: null,
  contact: null,
}

const TX = '{tx}'
/** Stands for a transaction's id while an address is read: a URL would encode the braces. */
const SAMPLE = 'id-of-a-transaction'

/** The explorer of a template; undefined where a transaction's id would decide the host, or is not in the address. */
export function parseExplorer(text: string): Explorer | undefined {
  const url = URL.parse(text.replaceAll(TX, SAMPLE))
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    return undefined
  const template = url.href.replaceAll(SAMPLE, TX)
  return url.host.includes(SAMPLE) || !template.includes(TX) ? undefined : { host: url.host, template }
}

/** The address of a transaction at an explorer. */
export function addressAt({ template }: Explorer, tx: string): string {
  return template.replaceAll(TX, encodeURIComponent(tx))
}

/** What every page says, in these words. */
export const PAGE_NOTICE =
  'Informational only. Not advice, a forecast or an offer. Only totals are published; no wallet addresses.'
