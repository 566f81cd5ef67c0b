import { base64, hex } from '@scure/base'

const ENCODER = new TextEncoder()
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const HEX = /^(?:[0-9a-f]{2})*$/

/** Decodes UTF-8; undefined when the bytes are malformed. A byte order mark is kept as a character. */
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

/** Decodes canonical, padded base64 (RFC 4648, section 4); undefined for any other text. */
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

/** Lower-case hex digits. */
export function formatHex(bytes: Uint8Array): string {
  return hex.encode(bytes)
}

/** Lower-case hex digits, two for each byte; undefined for any other text. */
export function parseHex(text: string): Uint8Array | undefined {
  return HEX.test(text) ? hex.decode(text) : undefined
}

/** Whether a text may be a line of a note: well-formed Unicode with no character below 0x20. */
export function isLine(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  return text.isWellFormed() && !/[\u0000-\u001f]/.test(text)
}
