import { base64, hex } from '@scure/base'

const ENCODER = new TextEncoder()
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const HEX = /^(?:[0-9a-f]{2})*$/
const DECIMAL = /^(?:0|[1-9]\d{0,15})$/

/** The bytes as text; undefined when they are no UTF-8. A byte order mark is a character like any other. */
export function parseUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export function formatUtf8(text: string): Uint8Array {
  return ENCODER.encode(text)
}

/** Standard base64 with its padding (RFC 4648, section 4), in its one form; undefined for any other text. */
export function parseBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined
  try {
    return base64.decode(text)
  } catch {
    return undefined
  }
}

export function formatBase64(bytes: Uint8Array): string {
  return base64.encode(bytes)
}

/** The bytes as lower-case hex digits. */
export function formatHex(bytes: Uint8Array): string {
  return hex.encode(bytes)
}

/** Lower-case hex digits, two for each byte; undefined for any other text. */
export function parseHex(text: string): Uint8Array | undefined {
  return HEX.test(text) ? hex.decode(text) : undefined
}

/** An integer from 0 to 2^53−1 in decimal digits without a leading zero; undefined for any other text. */
export function parseDecimal(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** Whether no character is below 0x20, and every one is of Unicode: what may stand in one line of a note. */
export function isLine(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.isWellFormed() && !/[\u0000-\u001f]/.test(text)
}
