import { isolated } from '../../protocol/direction.ts'
import type { Html } from './html.ts'

/** Longer than this nobody shows what a link leads to. */
export const DESCRIPTION_CHARS_MAX = 300

/** What a page begins with, as plain text: what is to be known first of it, and its lead or else its first paragraph. */
export function leadIn({ markup }: Html): string | null {
  const warning = WARNING.exec(markup)?.[1]
  const lead = LEAD.exec(markup)?.[1] ?? PARAGRAPH.exec(markup)?.[1]
  const said = [warning, lead].flatMap((one) => (one === undefined ? [] : [plainText({ markup: one })]))
  return said.length === 0 ? null : said.join(' ')
}

const WARNING = /<p class="banner warn"[^>]*>([^]*?)<\/p>/
const LEAD = /<p class="lead"[^>]*>([^]*?)<\/p>/
const PARAGRAPH = /<p(?![\w-]| class)[^>]*>([^]*?)<\/p>/

/** The words of some markup; a state in a frame as a sentence of its own, and without the links to JSON. */
export function plainText({ markup }: Html): string {
  const text = markup
    .replaceAll(/<a data-json[^>]*>[^]*?<\/a>/g, '')
    .replaceAll(/<span class="pill [^"]*">([^<]*)<\/span>/g, '$1.')
    .replaceAll(/<br \/>/g, ' ')
    .replaceAll(/<bdi>([^<]*)<\/bdi>/g, (_, quoted: string) => isolated(quoted))
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (escaped) => ESCAPED[escaped] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** What is said of a link to a page, never longer than is shown: whole words, so that no figure is another when cut. */
export function describedIn(text: string, simulated: boolean): string {
  const before = simulated ? `${SIMULATED} ` : ''
  const room = DESCRIPTION_CHARS_MAX - before.length
  if (text.length <= room) return before + text
  // A title may be one word longer than that: of it a part, which ends in no half of a character.
  const part = text.slice(0, room - 1).replace(/[\uD800-\uDBFF]$/, '')
  const [words = part] = /^[^]*\S(?=\s)/.exec(text.slice(0, room)) ?? []
  return `${before}${words}…`
}

const SIMULATED = 'A simulated platform, no real money.'
