import type { Hash } from '../../tlog/hash.ts'
import { HASH_BYTES } from '../../tlog/hash.ts'

/** Thrown by the checks of this file, and caught where a message is decoded. The message names the field. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

/** A JSON object, field by field. */
export type Fields = Readonly<Record<string, unknown>>

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8. */
export function textOfUtf8(bytes: Uint8Array, name: string): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new Malformed(`${name} is not UTF-8`)
  }
}

/** Parses the JSON of an object or a list. */
export function objectOfJson(text: string, name: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Malformed(`${name} is no JSON`)
  }
  return objectOf(value, name)
}

export function objectOf(value: unknown, name: string): Fields {
  if (!isFields(value)) throw new Malformed(`${name} is no object`)
  return value
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

export function listIn(of: Fields, name: string): readonly unknown[] {
  const value = of[name]
  if (!Array.isArray(value)) throw new Malformed(`${name} is no list`)
  return value
}

export function textIn(of: Fields, name: string): string {
  const value = of[name]
  if (typeof value !== 'string') throw new Malformed(`${name} is no text`)
  return value
}

/** An integer from `least` on. */
export function countIn(of: Fields, name: string, least = 0): number {
  const value = of[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw new Malformed(`${name} is no whole number from ${least} on`)
  }
  return value
}

export function flagIn(of: Fields, name: string): boolean {
  const value = of[name]
  if (typeof value !== 'boolean') throw new Malformed(`${name} is neither true nor false`)
  return value
}

/** A word of a closed list. */
export function wordIn<Word extends string>(of: Fields, name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === of[name])
  if (found === undefined) throw new Malformed(`${name} is none of ${words.join(', ')}`)
  return found
}

/** The field as `read` reads it, or null. */
export function orNull<Value>(
  of: Fields,
  name: string,
  read: (of: Fields, name: string) => Value,
): Value | null {
  return of[name] === null ? null : read(of, name)
}

const HEX_HASH = /^[0-9a-f]{64}$/

/** A SHA-256 in hex. */
export function sha256In(of: Fields, name: string): Hash {
  const value = textIn(of, name)
  if (!HEX_HASH.test(value)) throw new Malformed(`${name} is no SHA-256 in hex`)
  return Buffer.from(value, 'hex')
}

/** Bytes in base64, with padding. */
export function bytesOfBase64(text: unknown, name: string): Uint8Array {
  if (typeof text !== 'string') throw new Malformed(`${name} is no text`)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new Malformed(`${name} is no base64`)
  return bytes
}

export function hexOf(hash: Uint8Array): string {
  if (hash.length !== HASH_BYTES) throw new Malformed(`a hash has ${hash.length} bytes`)
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}
