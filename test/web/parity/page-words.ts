import { isProofText, readProofText } from './proof-text.ts'

/** Names with digits that are not figures: API paths and algorithms. */
const NAME = /\/api\/v\d[\w/]*|\bSHA-?256\w*/gi

/** Marks before the word of a pill, and before the number in a link's address. */
export const PILL = '¤'
export const LINKED = '¶'

/** Position of a value in a text from an index on. Underscores of a name may be spaces. */
export function placeOf(
  value: string,
  text: string,
  from: number,
): { start: number; end: number } | undefined {
  const written = value
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('_', '[_ ]')
  const form = new RegExp(String.raw`(?<![\w:¶-]|\d\.)¤?${written}(?!\w|[.:-]\d)`, 'gi')
  form.lastIndex = from
  const found = form.exec(text)
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length }
}

/** Words of a text that have a digit or a mark. */
export function tokensIn(text: string): readonly string[] {
  return (text.replaceAll(NAME, ' ').match(/¤\w+|¶?[\w.:-]*\d[\w.:-]*/g) ?? []).map((token) =>
    token.replace(/[.:-]+$/, ''),
  )
}

/** All tokens of an answer: its values, their parts, and the names of its fields. */
export function tokensOf(value: unknown): ReadonlySet<string> {
  const tokens = new Set<string>()
  const add = (text: string): void => {
    for (const token of [text, ...tokensIn(text), ...tokensIn(text.replaceAll(':', ' '))]) {
      tokens.add(token).add(`${PILL}${token}`).add(`${LINKED}${token}`)
      if (/^\d{4}-\d\d-\d\dT/.test(token)) for (const part of momentParts(token)) tokens.add(part)
    }
  }
  const visit = (one: unknown): void => {
    if (Object(one) !== one) return add(String(one))
    for (const [key, each] of Object.entries(one as object)) {
      if (!Array.isArray(one)) add(key)
      visit(each)
    }
  }
  visit(value)
  return tokens
}

/** Parts of a moment that its words have: date, day, year and time of day. */
function momentParts(at: string): readonly string[] {
  return [
    at.slice(0, 10),
    String(Number(at.slice(8, 10))),
    at.slice(0, 4),
    at.slice(11, 16),
    at.slice(11, 19),
  ]
}

/** Words with a digit in the titles of contests, by contest id. */
export function titlesOf(value: unknown): Map<string, string[]> {
  const titles = new Map<string, string[]>()
  const visit = (one: unknown): void => {
    if (Object(one) !== one) return
    const { id, contestId, title } = one as Record<string, unknown>
    const key = String(id ?? contestId)
    if (typeof title === 'string') titles.set(key, [...(titles.get(key) ?? []), ...tokensIn(title)])
    for (const each of Object.values(one as object)) visit(each)
  }
  visit(value)
  return titles
}

/** An answer as JSON. The checkpoint is a text, and becomes its lines; a proof becomes its parts. */
export function parseAnswer(answer: string): unknown {
  if (isProofText(answer)) return readProofText(answer)
  return /^[[{"n]/.test(answer) ? JSON.parse(answer) : answer.split('\n')
}
