import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { Explorer, Site } from '../../web/markup/site.ts'
import { DEFAULT_SITE, parseExplorer } from '../../web/markup/site.ts'
import { option } from '../terminal/options.ts'

/** What the command line says of the site. */
export type SiteOptions = Readonly<{
  publicUrl?: string
  siteName: string
  token: string
  explorer: readonly Explorer[]
  licence?: string
  contact?: string
}>

const NAME_CHARS_MAX = 60
const TOKEN_CHARS_MAX = 12
const EXPLORERS_MAX = 8
/** Control characters, and halves of characters: they stand in no header and on no page. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u

/** The options that say how the pages for people are headed, and what they link to. */
export function siteOptions(command: Command): Command {
  return command
    .addOption(
      option('--public-url <url>', 'address of the site for the world, which its pages name').argParser(
        publicUrl,
      ),
    )
    .addOption(
      option('--site-name <name>', 'name of the site on its pages')
        .argParser((text) => shortText(text, NAME_CHARS_MAX))
        .default(DEFAULT_SITE.name),
    )
    .addOption(
      option('--token <symbol>', 'symbol of the token on the pages')
        .argParser((text) => shortText(text, TOKEN_CHARS_MAX))
        .default(DEFAULT_SITE.token),
    )
    .addOption(
      option('--explorer <url>', 'address of a transaction at an explorer, with {tx} in it; may be repeated')
        .argParser((text, earlier: readonly Explorer[]) => explorers(text, earlier))
        .default([], 'none'),
    )
    .addOption(
      option('--licence <url>', 'address of the licence of what is published').argParser((text) =>
        address(text, ['https:', 'http:']),
      ),
    )
    .addOption(
      option('--contact <url>', 'address that people may write to, https: or mailto:').argParser((text) =>
        address(text, ['https:', 'mailto:']),
      ),
    )
}

/** The site as its pages take it, but for its address. */
export function siteOf({ siteName, token, explorer, licence, contact }: SiteOptions): Omit<Site, 'url'> {
  return { name: siteName, token, explorers: explorer, licence: licence ?? null, contact: contact ?? null }
}

function shortText(text: string, charsMax: number): string {
  if (text.trim() === '' || text.length > charsMax || UNPRINTABLE.test(text)) {
    throw new InvalidArgumentError(`1 to ${charsMax} characters`)
  }
  return text
}

/** One more explorer; from the environment several come at once, with blanks between them. */
function explorers(text: string, earlier: readonly Explorer[]): readonly Explorer[] {
  const written = text.split(/\s+/).filter((one) => one !== '')
  const all = [...earlier, ...written.map(explorerOf)]
  if (all.length > EXPLORERS_MAX) throw new InvalidArgumentError(`at most ${EXPLORERS_MAX} of them`)
  return all
}

function explorerOf(text: string): Explorer {
  const explorer = UNPRINTABLE.test(text) ? undefined : parseExplorer(text)
  if (explorer !== undefined) return explorer
  throw new InvalidArgumentError('an address that begins with https:, with {tx} in it and not in its host')
}

/** The address of a whole site: a scheme, a host, a port where it needs one, and nothing more. */
function publicUrl(text: string): string {
  const url = UNPRINTABLE.test(text) ? null : URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol) || `${url.origin}/` !== url.href) {
    throw new InvalidArgumentError('an address such as https://data.example.org, without a path')
  }
  return url.origin
}

/** An address as it may stand in a header: encoded as every browser does. */
function address(text: string, schemes: readonly string[]): string {
  const url = UNPRINTABLE.test(text) ? null : URL.parse(text)
  if (url === null || !schemes.includes(url.protocol)) {
    throw new InvalidArgumentError(`an address that begins with ${schemes.join(' or ')}`)
  }
  return url.href
}
