import { DRAFT_DEPTH_MAX, DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { isObject } from './refusal.ts'

/** A parsed JSON value, or the reason of a refusal. `index` is the element at fault in an array, if known. */
type JsonParsed =
  | Readonly<{ ok: true; value: unknown }>
  | Readonly<{ ok: false; reason: string; index?: number }>

/** Parses a line of NDJSON or of an import file: at most 64 KiB, four levels deep, no key twice, only integers. */
export function parseLine(text: string): JsonParsed {
  // A UTF-16 unit has at most three bytes, so the bytes of most lines need not be counted.
  const isLong =
    text.length > DRAFT_LINE_BYTES_MAX ||
    (text.length * 3 > DRAFT_LINE_BYTES_MAX && Buffer.byteLength(text) > DRAFT_LINE_BYTES_MAX)
  if (isLong) return { ok: false, reason: `is longer than ${DRAFT_LINE_BYTES_MAX} bytes` }
  return parseJson(text, DRAFT_DEPTH_MAX)
}

/** Parses a request body that is an array of drafts, by the same rules. The caller limits their number. */
export function parseBody(
  text: string,
): Readonly<{ ok: true; value: readonly unknown[] }> | (JsonParsed & { ok: false }) {
  const body = parseJson(text, DRAFT_DEPTH_MAX + 1)
  if (!body.ok) return body
  return Array.isArray(body.value)
    ? { ok: true, value: body.value }
    : { ok: false, reason: 'must be an array of drafts' }
}

/** Parses a request body that is one object, by the same rules. */
export function parseObject(
  text: string,
): Readonly<{ ok: true; value: Readonly<Record<string, unknown>> }> | (JsonParsed & { ok: false }) {
  const body = parseJson(text, DRAFT_DEPTH_MAX)
  if (!body.ok) return body
  return isObject(body.value) ? { ok: true, value: body.value } : { ok: false, reason: 'must be an object' }
}

/** Parses JSON after a scan of its outline, so that deep nesting and repeated keys are refused. */
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

/** Position at which parsing failed. The parser's own message quotes the input, so it is not repeated. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const position = / at position (\d{1,9})(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return ` (at character ${Number(position) + 1})`
  return message === 'Unexpected end of JSON input' ? ` (at character ${text.length + 1}, its end)` : ''
}

type Outline = Readonly<{
  reason: string | null
  at?: Readonly<{ index: number }>
  /** Count of object members in the text, for each element of the array, or for the only value. */
  members: readonly number[]
}>

const QUOTE = 34
const BACKSLASH = 92

/** Scans the text outside of strings for its depth, its count of members, and numbers that are no plain integers. */
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

// JSON.parse reads 1e3 and 1.0 as integers, and rounds 4503599627370497.5.
const NO_INTEGER = 'has a number with a point or an exponent: only plain integers are numbers here'

/** Position of the quote that ends a string; the text's end when there is none. */
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

/** Finds repeated keys: JSON.parse keeps the last, so the value has fewer members than the text. */
function keysTwice(value: unknown, members: readonly number[]): JsonParsed | undefined {
  const reason = 'has the same key twice in one object'
  if (!Array.isArray(value)) return membersOf(value) === members[0] ? undefined : { ok: false, reason }
  const elements: readonly unknown[] = value
  const index = elements.findIndex((element, at) => membersOf(element) !== members[at])
  return index < 0 ? undefined : { ok: false, reason, index }
}

/** Count of the members of all objects in a value. Its depth is bounded already. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts = Object.values(value)
  let count = isObject(value) ? parts.length : 0
  for (const part of parts) count += membersOf(part)
  return count
}
