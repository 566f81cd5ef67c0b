import { type Hash, HASH_BYTES } from '../../tlog/hash.ts'

/** Bytes that are no row. Thrown by the checks of this file, and caught where a row is decoded. The text names the field. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow'
}

/** A JSON object, field by field. */
export type RowFields = Readonly<Record<string, unknown>>

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8. */
export function textInUtf8(bytes: Uint8Array, name: string): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new MalformedRow(`${name} is not UTF-8`)
  }
}

/** Parses the JSON of an object or a list. */
export function fieldsInJson(text: string, name: string): RowFields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new MalformedRow(`${name} is no JSON`)
  }
  return asFields(value, name)
}

/** A JSON object or list, field by field. */
export function asFields(value: unknown, name: string): RowFields {
  if (!isFields(value)) throw new MalformedRow(`${name} is no object`)
  return value
}

function isFields(value: unknown): value is RowFields {
  return typeof value === 'object' && value !== null
}

/** A list. */
export function listField(of: RowFields, name: string): readonly unknown[] {
  const value = of[name]
  if (!Array.isArray(value)) throw new MalformedRow(`${name} is no list`)
  return value
}

/** A text. */
export function textField(of: RowFields, name: string): string {
  const value = of[name]
  if (typeof value !== 'string') throw new MalformedRow(`${name} is no text`)
  return value
}

/** An integer from `least` on. */
export function countField(of: RowFields, name: string, least = 0): number {
  const value = of[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw new MalformedRow(`${name} is no whole number from ${least} on`)
  }
  return value
}

/** True or false. */
export function flagField(of: RowFields, name: string): boolean {
  const value = of[name]
  if (typeof value !== 'boolean') throw new MalformedRow(`${name} is neither true nor false`)
  return value
}

/** A word of a closed list. */
export function wordField<Word extends string>(of: RowFields, name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === of[name])
  if (found === undefined) throw new MalformedRow(`${name} is none of ${words.join(', ')}`)
  return found
}

/** The field as `read` reads it, or null. */
export function nullableField<Value>(
  of: RowFields,
  name: string,
  read: (of: RowFields, name: string) => Value,
): Value | null {
  return of[name] === null ? null : read(of, name)
}

const HEX_HASH = /^[0-9a-f]{64}$/

/** A SHA-256 in hex. */
export function hashField(of: RowFields, name: string): Hash {
  const value = textField(of, name)
  if (!HEX_HASH.test(value)) throw new MalformedRow(`${name} is no SHA-256 in hex`)
  return Buffer.from(value, 'hex')
}

/** Bytes in base64, with padding. */
export function bytesInBase64(text: unknown, name: string): Uint8Array {
  if (typeof text !== 'string') throw new MalformedRow(`${name} is no text`)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new MalformedRow(`${name} is no base64`)
  return bytes
}

/** The hash in hex. */
export function hexOfHash(hash: Uint8Array): string {
  if (hash.length !== HASH_BYTES) throw new MalformedRow(`a hash has ${hash.length} bytes`)
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}
