const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * Whether an object of a JSON text has the same member twice. `JSON.parse` keeps the last one, another reader the first, so
 * such a text says two things. `value` is the parsed text: it then has fewer members than the text.
 */
export function repeatsMember(text: string, value: unknown): boolean {
  return membersIn(text) !== membersOf(value)
}

/** Members of all objects in a text that is JSON. */
function membersIn(text: string): number {
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = closingQuote(text, at)
    else if (code === COLON) members += 1
  }
  return members
}

function closingQuote(text: string, open: number): number {
  let at = open
  let escapes: number
  do {
    at = text.indexOf('"', at + 1)
    escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1
  } while (escapes % 2 === 1)
  return at
}

/** Members of all objects in a value of any depth. */
function membersOf(value: unknown): number {
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
