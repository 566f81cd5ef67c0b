import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { Site } from '../serve/web/site.ts'
import { DEFAULT_SITE } from '../serve/web/site.ts'
import { option } from './options.ts'

/** What the command line says of the site. */
export type SiteOptions = Readonly<{
  siteName: string
  token: string
  explorer: readonly string[]
  licence?: string
  contact?: string
}>

const NAME_CHARS_MAX = 60
const TOKEN_CHARS_MAX = 12
const EXPLORERS_MAX = 8

/** The options that say how the pages for people are headed, and what they link to. */
export function siteOptions(command: Command): Command {
  return command
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
        .argParser((text, earlier: readonly string[]) => explorers(text, earlier))
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

/** The site as its pages take it. */
export function siteOf({ siteName, token, explorer, licence, contact }: SiteOptions): Site {
  return { name: siteName, token, explorers: explorer, licence: licence ?? null, contact: contact ?? null }
}

function shortText(text: string, charsMax: number): string {
  if (text.trim() === '' || text.length > charsMax || /[\p{Cc}\p{Cs}]/u.test(text)) {
    throw new InvalidArgumentError(`1 to ${charsMax} characters`)
  }
  return text
}

/** One more explorer; from the environment several come at once, with blanks between them. */
function explorers(text: string, earlier: readonly string[]): readonly string[] {
  const all = [...earlier, ...text.split(/\s+/).filter((one) => one !== '')]
  if (all.length > EXPLORERS_MAX) throw new InvalidArgumentError(`at most ${EXPLORERS_MAX} of them`)
  for (const one of all) {
    if (!one.includes('{tx}')) throw new InvalidArgumentError('an address with {tx} in it')
    address(one.replace('{tx}', 'x'), ['https:'])
  }
  return all
}

function address(text: string, schemes: readonly string[]): string {
  const scheme = URL.parse(text)?.protocol
  if (scheme === undefined || !schemes.includes(scheme)) {
    throw new InvalidArgumentError(`an address that begins with ${schemes.join(' or ')}`)
  }
  return text
}
