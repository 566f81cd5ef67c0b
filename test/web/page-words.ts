/** What names no figure: an address of the API, an algorithm. */
const NAME = /\/api\/v\d[\w/]*|\bSHA-?256\w*/gi

/** Before a word in a frame, and before the number of the page that a link leads to. */
export const PILL = '¤'
export const LINKED = '¶'

/** Where a value stands in a text, not before a place; a name of the protocol may stand as words. */
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

/** What in a text is or has a digit, and what is marked. */
export function tokensIn(text: string): readonly string[] {
  return (text.replaceAll(NAME, ' ').match(/¤\w+|¶?[\w.:-]*\d[\w.:-]*/g) ?? []).map((token) =>
    token.replace(/[.:-]+$/, ''),
  )
}

/** All that an answer says in digits or names: its values, what they are made of, and the names of its fields. */
export function tokensOf(value: unknown): ReadonlySet<string> {
  const tokens = new Set<string>()
  const add = (text: string): void => {
    for (const token of [text, ...tokensIn(text), ...tokensIn(text.replaceAll(':', ' '))]) {
      tokens.add(token).add(`${PILL}${token}`).add(`${LINKED}${token}`)
      if (/^\d{4}-\d\d-\d\dT/.test(token)) tokens.add(token.slice(0, 10)).add(token.slice(11, 19))
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

/** What has a digit in the titles of contests, by the contest's number. */
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
