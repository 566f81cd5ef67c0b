import { type Html, html } from './html.ts'

/** Renders text of the OpenAPI document, which is Markdown with only links and code between backticks. */
export function prose(text: string): Html {
  const parts = text.split(/(`[^`]*`|\[[^\]]*\]\([^)\s]*\))/)
  return html`${parts.map((part) => {
    const [, words = '', href = ''] = /^\[(.*)\]\((.*)\)$/.exec(part) ?? []
    if (href !== '') return html`<a href="${href}">${words}</a>`
    return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : part
  })}`
}

/** Text with a full stop at its end; null for no text. */
export function sentence(text: string | undefined): Html | null {
  return text === undefined || text === '' ? null : prose(text.endsWith('.') ? text : `${text}.`)
}

/** A text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Parts with commas, and "and" before the last. */
export function listed(parts: readonly Html[]): Html {
  return html`${parts.map((part, index) => [
    index === 0 ? '' : index === parts.length - 1 ? ' and ' : ', ',
    part,
  ])}`
}

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const HUNDRED = 100

/** A whole number below a hundred in words, such as `ninety`; null for others. */
export function numberWords(count: number): string | null {
  if (!Number.isInteger(count) || count < 0 || count >= HUNDRED) return null
  if (count < SMALL.length) return SMALL[count] ?? null
  const [ten, one] = [TENS[Math.floor(count / 10) - 2], count % 10]
  return one === 0 ? (ten ?? null) : `${ten}-${SMALL[one]}`
}
