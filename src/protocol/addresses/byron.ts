import { crc32 } from './crc.ts'

/** CBOR head of the CRC-32, an integer of four bytes. */
const CRC_HEAD = 0x1a

/**
 * Whether the rest of the bytes is that of a Cardano address of the Byron era: CBOR of its payload, whose length is the
 * fifth byte, and the CRC-32 of the payload.
 */
export function isByron(bytes: Uint8Array): boolean {
  const end = 5 + (bytes[4] ?? 0)
  if (bytes.length !== end + 5 || bytes[end] !== CRC_HEAD) return false
  const written = bytes.subarray(end + 1).reduce((sum, byte) => sum * 256 + byte, 0)
  return crc32(bytes.subarray(5, end)) === written
}
