import { DRAFT_DEPTH_MAX, DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { isObject } from './refusal.ts'

/** JSON from outside: its value, or why there is none; `index` is the array's element at fault, where known. */
type JsonParsed =
  | Readonly<{ ok: true; value: unknown }>
  | Readonly<{ ok: false; reason: string; index?: number }>

/** One line of NDJSON or of an import file: at most 64 KiB, four levels deep, no key twice, plain integers. */
export function parseLine(text: string): JsonParsed {
  // A UTF-16 unit takes at most three bytes: most lines need no counting.
  const isLong =
    text.length > DRAFT_LINE_BYTES_MAX ||
    (text.length * 3 > DRAFT_LINE_BYTES_MAX && Buffer.byteLength(text) > DRAFT_LINE_BYTES_MAX)
  if (isLong) return { ok: false, reason: `is longer than ${DRAFT_LINE_BYTES_MAX} bytes` }
  return parseJson(text, DRAFT_DEPTH_MAX)
}

/** A request's body as one array of drafts, by the same rules; how many it holds is for the caller to judge. */
export function parseBody(
  text: string,
): Readonly<{ ok: true; value: readonly unknown[] }> | (JsonParsed & { ok: false }) {
  const body = parseJson(text, DRAFT_DEPTH_MAX + 1)
  if (!body.ok) return body
  return Array.isArray(body.value)
    ? { ok: true, value: body.value }
    : { ok: false, reason: 'must be an array of drafts' }
}

/** Parses JSON after a look at its outline, so that a bomb of brackets or a key that hides another is refused. */
function parseJson(text: string, depthMax: number): JsonParsed {
  const outline = outlineOf(text, depthMax)
  if (outline.reason !== null) return { ok: false, reason: outline.reason, ...outline.at }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, reason: `is not JSON${placeOf(error, text)}` }
  }
  return keysTwice(value, outline.members) ?? { ok: true, value }
}

/** Where parsing failed. The parser's own message is not passed on: it quotes what was sent. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const position = / at position (\d{1,9})(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return ` (at character ${Number(position) + 1})`
  return message === 'Unexpected end of JSON input' ? ` (at character ${text.length + 1}, its end)` : ''
}

type Outline = Readonly<{
  reason: string | null
  at?: Readonly<{ index: number }>
  /** Members of objects as they are written: in all of each element of an array, or of the one value. */
  members: readonly number[]
}>

const QUOTE = 34
const BACKSLASH = 92

/** One pass over what stands outside of strings: depth, members, and numbers that are no plain integers. */
function outlineOf(text: string, depthMax: number): Outline {
  const isArray = /^\s*\[/.test(text)
  const members: number[] = []
  let count = 0
  let depth = 0
  const refuse = (reason: string): Outline => ({
    reason,
    members,
    ...(isArray && { at: { index: members.length } }),
  })
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at)
        break
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > depthMax) return refuse(`is nested deeper than ${DRAFT_DEPTH_MAX} levels`)
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case 0x3a: // :
        count++
        break
      case 0x2c: // ,
        if (isArray && depth === 1) {
          members.push(count)
          count = 0
        }
        break
      case 0x2e: // .
      case 0x45: // E
      case 0x65: // e, which true and false have too
        if (isDigit(text.charCodeAt(at - 1))) return refuse(NO_INTEGER)
        break
      default:
    }
  }
  members.push(count)
  return { reason: null, members }
}

// 1e3 and 1.0 would be read as integers, and 4503599627370497.5 as another number than was written.
const NO_INTEGER = 'has a number with a point or an exponent: only plain integers are numbers here'

/** The place of the quote that ends a string; the text's end when none does. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** JSON.parse lets the last of two equal keys win: then fewer members are read than are written. */
function keysTwice(value: unknown, members: readonly number[]): JsonParsed | undefined {
  const reason = 'has the same key twice in one object'
  if (!Array.isArray(value)) return membersOf(value) === members[0] ? undefined : { ok: false, reason }
  const elements: readonly unknown[] = value
  const index = elements.findIndex((element, at) => membersOf(element) !== members[at])
  return index < 0 ? undefined : { ok: false, reason, index }
}

/** Members of the value's objects at every depth, which is bounded by then. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts = Object.values(value)
  let count = isObject(value) ? parts.length : 0
  for (const part of parts) count += membersOf(part)
  return count
}
