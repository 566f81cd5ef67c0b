import { DRAFT_DEPTH_MAX, DRAFT_LINE_BYTES_MAX } from '../../protocol/draft.ts'
import { closingQuote, membersOf } from '../../protocol/json-members.ts'
import { isObject } from './refusal.ts'

/** A parsed JSON value, or the reason of its refusal. */
type JsonParsed = Readonly<{ ok: true; value: unknown }> | Readonly<{ ok: false; reason: string }>

/**
 * Parses a draft of a request or an import file. Its limits are 64 KiB, four levels, no repeated key, and only
 * integers.
 */
export function parseLine(text: string): JsonParsed {
  // A UTF-16 unit has at most three bytes, so only long lines need their bytes counted.
  const isLong =
    text.length > DRAFT_LINE_BYTES_MAX ||
    (text.length * 3 > DRAFT_LINE_BYTES_MAX && Buffer.byteLength(text) > DRAFT_LINE_BYTES_MAX)
  if (isLong) return { ok: false, reason: `is longer than ${DRAFT_LINE_BYTES_MAX} bytes` }
  return parseJson(text)
}

/** Parses a request body that is one object, by the same rules. */
export function parseObject(
  text: string,
): Readonly<{ ok: true; value: Readonly<Record<string, unknown>> }> | (JsonParsed & { ok: false }) {
  const body = parseJson(text)
  if (!body.ok) return body
  return isObject(body.value) ? { ok: true, value: body.value } : { ok: false, reason: 'must be an object' }
}

/** Parses JSON after a scan that refuses deep nesting and finds repeated keys. */
function parseJson(text: string): JsonParsed {
  const outline = outlineOf(text)
  if (typeof outline === 'string') return { ok: false, reason: outline }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, reason: `is not JSON${placeOf(error, text)}` }
  }
  // JSON.parse keeps the last of repeated keys, so the value then has fewer members than the text.
  if (membersOf(value) === outline) return { ok: true, value }
  return { ok: false, reason: 'has the same key twice in one object' }
}

/** Position of a parse error. The parser's own message quotes the input, so it is not used. */
function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const position = / at position (\d{1,9})(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return ` (at character ${Number(position) + 1})`
  return message === 'Unexpected end of JSON input' ? ` (at character ${text.length + 1}, its end)` : ''
}

const QUOTE = 34

/**
 * Scans the text outside of strings. Returns the number of members of all objects, or the reason of a refusal: too
 * deep, or a number that is not a plain integer.
 */
function outlineOf(text: string): number | string {
  let members = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at)
        break
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > DRAFT_DEPTH_MAX) return `is nested deeper than ${DRAFT_DEPTH_MAX} levels`
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case 0x3a: // :
        members++
        break
      case 0x2e: // .
      case 0x45: // E
      case 0x65: // e, which true and false have too
        if (isDigit(text.charCodeAt(at - 1))) return NO_INTEGER
        break
      default:
    }
  }
  return members
}

// JSON.parse reads 1e3 and 1.0 as integers, and rounds 4503599627370497.5.
const NO_INTEGER = 'has a number with a point or an exponent: only plain integers are numbers here'

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
