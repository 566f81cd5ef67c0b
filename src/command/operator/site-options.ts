import { InvalidArgumentError, type Option } from 'commander'
import type { Ms } from '../../protocol/moment.ts'
import { DEFAULT_SITE, type Explorer, parseExplorer, type Site } from '../../web/markup/site.ts'
import { option, wholeBetween } from '../terminal/options.ts'

/** Options of the site, as commander parses them. */
export type SiteOptions = Readonly<{
  publicUrl?: string
  siteName: string
  token: string
  explorer: readonly Explorer[]
  licence?: string
  pageCache?: number
  contact?: string
}>

const NAME_CHARS_MAX = 60
const TOKEN_CHARS_MAX = 12
const EXPLORERS_MAX = 8
/** Longest cache time of a page. An older page misleads, and a CDN keeps it a little longer while it revalidates. */
const PAGE_CACHE_SECONDS_MAX = 60
/** Control characters and lone surrogates, which no header or page may contain. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u

/** Options for the names and links on the pages. */
export const SITE_OPTIONS: readonly Option[] = [
  option('--public-url <url>', 'public address of the site, for links on its pages').argParser(publicUrl),
  option('--site-name <name>', 'name of the site on its pages')
    .argParser((text) => shortText(text, NAME_CHARS_MAX))
    .default(DEFAULT_SITE.name),
  option('--token <symbol>', 'symbol of the token on the pages')
    .argParser((text) => shortText(text, TOKEN_CHARS_MAX))
    .default(DEFAULT_SITE.token),
  option('--explorer <url>', 'address of a transaction in an explorer, with {tx}; may be repeated')
    .argParser((text, earlier: readonly Explorer[]) => explorers(text, earlier))
    .default([], 'none'),
  option('--licence <url>', 'address of the licence of the published data').argParser((text) =>
    address(text, ['https:', 'http:']),
  ),
  option(
    '--page-cache <seconds>',
    'time for which a CDN may keep a page without asking (default: none)',
  ).argParser(wholeBetween(1, PAGE_CACHE_SECONDS_MAX)),
  option('--contact <url>', 'contact address: https: or mailto:').argParser((text) =>
    address(text, ['https:', 'mailto:']),
  ),
]

/** Settings of the pages, except the address of the site. */
export function siteOf(
  { siteName, token, explorer, licence, contact, pageCache }: SiteOptions,
  startedAt: Ms,
): Omit<Site, 'url'> {
  return {
    name: siteName,
    token,
    explorers: explorer,
    licence: licence ?? null,
    pageCacheSeconds: pageCache ?? null,
    contact: contact ?? null,
    startedAt,
  }
}

function shortText(text: string, charsMax: number): string {
  if (text.trim() === '' || text.length > charsMax || UNPRINTABLE.test(text)) {
    throw new InvalidArgumentError(`give 1 to ${charsMax} characters, without control characters`)
  }
  return text
}

/** Adds explorers to those of earlier options. An environment variable has several, separated by spaces. */
function explorers(text: string, earlier: readonly Explorer[]): readonly Explorer[] {
  const written = text.split(/\s+/).filter((one) => one !== '')
  const all = [...earlier, ...written.map(explorerOf)]
  if (all.length > EXPLORERS_MAX) throw new InvalidArgumentError(`give at most ${EXPLORERS_MAX} explorers`)
  return all
}

function explorerOf(text: string): Explorer {
  const explorer = UNPRINTABLE.test(text) ? undefined : parseExplorer(text)
  if (explorer !== undefined) return explorer
  throw new InvalidArgumentError('give an address that begins with https: and has {tx} after its host')
}

/** Parses the address of a site: only a scheme, a host and an optional port. */
export function publicUrl(text: string): string {
  const url = UNPRINTABLE.test(text) ? null : URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol) || `${url.origin}/` !== url.href) {
    throw new InvalidArgumentError('give an address such as https://data.example.org, without a path')
  }
  return url.origin
}

/** Parses an address with one of the schemes, and encodes it as browsers do, for use in a header. */
function address(text: string, schemes: readonly string[]): string {
  const url = UNPRINTABLE.test(text) ? null : URL.parse(text)
  if (url === null || !schemes.includes(url.protocol)) {
    throw new InvalidArgumentError(`give an address that begins with ${schemes.join(' or ')}`)
  }
  return url.href
}
