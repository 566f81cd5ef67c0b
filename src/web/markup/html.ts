/** Markup that is safe to stand in a page: made by `html`, which escapes what is put into it. */
export type Html = Readonly<{ markup: string }>

/** What may be put into a template: text and numbers are escaped, markup is not, null is nothing, lists are joined. */
export type Part = Html | string | number | null | readonly Part[]

const ESCAPED = /[&<>"']/
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * A template of markup. Every text put into it is escaped, so that it may stand between tags and within the quotes of
 * an attribute; an attribute without quotes, a script or a style is no place for one.
 */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = pieces[0] ?? ''
  for (let at = 0; at < parts.length; at++) markup += markupOf(parts[at] ?? null) + (pieces[at + 1] ?? '')
  return { markup }
}

/** Some text as it is written in a page. */
export function escapeText(text: string): string {
  // Most texts are numbers and words: to find that out costs a tenth of looking for what to replace.
  if (!ESCAPED.test(text)) return text
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? '')
}

/** Markup as a document of its own in XML: two characters that a text may hold can stand in none. */
export function xmlOf({ markup }: Html): string {
  return markup.replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
}

/** A block of JSON for what reads it from the page (`application/ld+json`): nothing in it can end the element. */
export function jsonBlock(type: string, value: unknown): Html {
  const json = JSON.stringify(value).replaceAll('<', String.raw`\u003c`)
  return { markup: `<script type="${escapeText(type)}">${json}</script>` }
}

function markupOf(part: Part): string {
  if (part === null) return ''
  if (typeof part === 'string') return escapeText(part)
  if (typeof part === 'number') return String(part)
  if ('markup' in part) return part.markup
  let markup = ''
  for (const one of part) markup += markupOf(one)
  return markup
}
