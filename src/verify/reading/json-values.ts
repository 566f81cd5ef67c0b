import { parseUtf8 } from '../../tlog/text.ts'
import { WrongError } from './finding.ts'

/** A JSON object from outside: nothing is known of its members. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The JSON object in a body; a body that is none is wrong. */
export function readObject(place: string, body: Uint8Array): JsonObject {
  const text = parseUtf8(body)
  let value: unknown
  try {
    value = JSON.parse(text ?? '')
  } catch (cause) {
    throw new WrongError(place, 'is no JSON', { cause })
  }
  if (!isJsonObject(value)) throw new WrongError(place, 'is no JSON object')
  return value
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole number from 0 to 2^53−1; undefined for anything else. */
export function jsonInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function jsonString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The members of a list that are objects; undefined when it is no list of objects alone. */
export function objectsOf(value: unknown): readonly JsonObject[] | undefined {
  return Array.isArray(value) && value.every(isJsonObject) ? value : undefined
}
