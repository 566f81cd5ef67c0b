import { WrongError } from './finding.ts'
import { parseUtf8 } from '../../tlog/note.ts'

/** JSON object from outside, with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Parses a body as a JSON object. Throws a `WrongError` for any other body. */
export function readObject(place: string, body: Uint8Array): JsonObject {
  const text = parseUtf8(body)
  let value: unknown
  try {
    value = JSON.parse(text ?? '')
  } catch (cause) {
    throw new WrongError(place, 'is not JSON', { cause })
  }
  if (!isJsonObject(value)) throw new WrongError(place, 'is not a JSON object')
  return value
}

/** Writes a parsed value as JSON again. Throws a `WrongError` when it is nested too deep. */
export function jsonAgain(place: string, value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new WrongError(place, 'is nested too deep', { cause })
  }
}

/** Whether a JSON value is an object, not an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole number from 0 to 2^53−1; undefined for anything else. */
export function jsonInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** A string; undefined for anything else. */
export function jsonString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** An array of objects; undefined for anything else. */
export function objectsOf(value: unknown): readonly JsonObject[] | undefined {
  return Array.isArray(value) && value.every(isJsonObject) ? value : undefined
}

/**
 * Path of the first difference between a published JSON value and the recomputed one, such as `buckets[3].burned`. The
 * empty text means the whole value; null means that they are equal. Repeats no name from the published value.
 */
export function difference(published: unknown, recomputed: unknown, place = ''): string | null {
  if (Array.isArray(recomputed)) {
    if (!Array.isArray(published)) return place
    const index = recomputed.findIndex((value, at) => difference(published[at], value) !== null)
    if (index >= 0) return difference(published[index], recomputed[index], `${place}[${index}]`)
    return published.length === recomputed.length ? null : `${place}[${recomputed.length}]`
  }
  if (!isJsonObject(recomputed)) return published === recomputed ? null : place
  if (!isJsonObject(published)) return place
  for (const [name, value] of Object.entries(recomputed)) {
    const inside = place === '' ? name : `${place}.${name}`
    const found = difference(Object.hasOwn(published, name) ? published[name] : undefined, value, inside)
    if (found !== null) return found
  }
  const unknown = Object.keys(published).some((name) => !Object.hasOwn(recomputed, name))
  return unknown ? `${place === '' ? '' : `${place}, `}an unknown field` : null
}
