import { isolateDirection } from '../../protocol/foreign-text.ts'
import type { Html } from './html.ts'
import { capitalized } from './prose.ts'
import { dayWords, timeWords } from './time-words.ts'

/** Maximum characters of a link preview. */
export const DESCRIPTION_CHARS_MAX = 300

/** First text of a page without markup: its warning, its verdict, and its lead or first paragraph. */
export function leadOf({ markup }: Html): string | null {
  const warning = WARNING.exec(markup)?.[1]
  const lead = LEAD.exec(markup)?.[1] ?? PARAGRAPH.exec(markup)?.[1]
  const say = SAY.exec(markup)?.[1]
  const sentences = [warning, say === undefined ? undefined : `${say}.`, lead].flatMap((one) =>
    one === undefined ? [] : [plainText({ markup: one })],
  )
  return sentences.length === 0 ? null : sentences.join(' ')
}

const WARNING = /<p class="banner warn"[^>]*>([^]*?)<\/p>/
const SAY = /<p class="say"[^>]*>([^]*?)<\/p>/
const LEAD = /<p class="lead"[^>]*>([^]*?)<\/p>/
const PARAGRAPH = /<p(?![\w-]| class)[^>]*>([^]*?)<\/p>/

/**
 * Text of markup for use outside its page. A state's chip becomes a separate sentence. Hidden decimals and links to
 * JSON are removed. A moment has its full date in UTC, because "in 2 h" is wrong later.
 */
export function plainText({ markup }: Html): string {
  const text = markup
    .replaceAll(DISTANCE_AFTER, '$1')
    .replaceAll(/<time datetime="([^"]*)"(?: data-form="(\w+)")?>([^<]*)<\/time>/g, fullDate)
    .replaceAll(/<a data-json[^>]*>[^]*?<\/a>/g, '')
    .replaceAll(/<span class="chip [^"]*"[^>]*>([^<]*)<\/span>/g, '$1.')
    .replaceAll(/<i>[^<]*<\/i>/g, '')
    .replaceAll(/<br \/>/g, ' ')
    .replaceAll(/<bdi>([^<]*)<\/bdi>/g, (_, quoted: string) => isolateDirection(quoted))
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (escaped) => ESCAPED[escaped] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return capitalized(text)
}

/** A moment, and after a comma the time until it or since it. */
const DISTANCE_AFTER =
  /(<time datetime="([^"]*)"[^>]*>[^<]*<\/time>(?:<\/\w+\s*>)?),\s*(?:<span[^>]*>)?<time datetime="\2" data-form="until">[^<]*<\/time>/g

/** Forms of moments that have a date only. */
const DAY_FORMS: ReadonlySet<string> = new Set(['day', 'dayname', 'short', 'weekday'])
/** Forms of moments that have a date and a time of day. */
const MOMENT_FORMS: ReadonlySet<string> = new Set(['full', 'near', 'clock', 'hour', 'cell', 'until'])

/** Text of a time element that stays right: `22 Nov 2026` or `22 Nov 2026 03:49 UTC`. */
function fullDate(_: string, at: string, form = 'full', shown: string): string {
  const ms = Date.parse(at)
  if (DAY_FORMS.has(form)) return dayWords('date', ms)
  return MOMENT_FORMS.has(form) ? `${dayWords('date', ms)} ${timeWords('hour', ms, 0)}` : shown
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** Link-preview text, cut to whole words so that no figure loses digits. */
export function linkPreviewText(text: string, simulated: boolean): string {
  const before = simulated ? `${SIMULATED} ` : ''
  const room = DESCRIPTION_CHARS_MAX - before.length
  if (text.length <= room) return before + text
  // A single word may be too long: cut it, but not within a surrogate pair.
  const part = text.slice(0, room - 1).replace(/[\uD800-\uDBFF]$/, '')
  const [words = part] = /^[^]*\S(?=\s)/.exec(text.slice(0, room)) ?? []
  return `${before}${words}…`
}

const SIMULATED = 'A simulated platform, no real money.'
