import type { Ask } from '../route.ts'

/** What an operator says of the site; the log says the rest. */
export type Site = Readonly<{
  /** Stands in every title and at the top of every page. */
  name: string
  /** The token's symbol, the unit of every amount. */
  token: string
  /** Addresses of public explorers, each with `{tx}` in it: two or more, so that nobody has to trust one. */
  explorers: readonly string[]
  /** The address of the licence of what is published; null when none is stated. */
  licence: string | null
  /** An address that people may write to, `https:` or `mailto:`; null when none is stated. */
  contact: string | null
}>

export const DEFAULT_SITE: Site = {
  name: 'Daybook',
  token: 'KOTS',
  explorers: [],
  licence: null,
  contact: null,
}

/** What every page says, in these words. */
export const NOTICE =
  'Informational only. Not advice, a forecast or an offer. Only totals are published; no wallet addresses.'

const LOOPBACK = /^(?:localhost|127\.0\.0\.1)(?::|$)/

/** The address that commands and feeds begin with; of this machine without TLS, of any other with it. */
export function baseOf(host: string | null): string {
  if (host === null) return 'https://daybook.example'
  return `${LOOPBACK.test(host) ? 'http' : 'https'}://${host}`
}

const HOST = /^[\w.-]{1,253}(?::\d{1,5})?$/

/** The host by which the service was asked, with its port; null where it is not known. */
export function hostOf(ask: Ask): string | null {
  const host = ask.header('host')
  return host !== undefined && HOST.test(host) ? host : null
}
