// Parts of a search for repeated fields. `JSON.parse` keeps the last of them and other readers the first, so a text with
// a repeated field is ambiguous. Its value has fewer members than the text.

const BACKSLASH = 0x5c

/** Position of the quote that ends a string of a JSON text; the text's end when there is none. */
export function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1
    if (escapes % 2 === 0) return at
  }
  return text.length
}

/** Number of members of all objects in a JSON value of any depth. */
export function membersOf(value: unknown): number {
  let members = 0
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null) continue
    const parts: readonly unknown[] = Object.values(one)
    if (!Array.isArray(one)) members += parts.length
    for (const part of parts) if (typeof part === 'object') open.push(part)
  }
  return members
}
