const LIMB_BYTES = 3
const LIMB_BITS = 24
/** Limbs of 128 digits. */
const LIMBS_MAX = 32

/** A number in base 58 that grows by one digit at a time. Each leading zero is a byte of its own. */
export type GrowingNumber = Readonly<{
  clear(): void
  push(digit: number): void
  /** Bytes of the number. */
  length(): number
  /** Value of the first bytes, at most six. */
  head(count: number): number
  bytes(): Uint8Array
}>

/** Opens a number for 128 digits at most. */
export function openNumber(): GrowingNumber {
  // Lowest limb first.
  const limbs = new Int32Array(LIMBS_MAX)
  let used = 0
  let zeros = 0

  const length = () => {
    if (used === 0) return zeros
    const top = limbs[used - 1] ?? 0
    return zeros + (used - 1) * LIMB_BYTES + (top > 0xffff ? 3 : top > 0xff ? 2 : 1)
  }
  const byteAt = (at: number, size: number) => {
    const place = size - 1 - at
    return ((limbs[(place / LIMB_BYTES) | 0] ?? 0) >> ((place % LIMB_BYTES) * 8)) & 255
  }
  return {
    clear() {
      used = 0
      zeros = 0
    },
    push(digit) {
      if (used === 0 && digit === 0) {
        zeros++
        return
      }
      let carry = digit
      for (let at = 0; at < used; at++) {
        const next = (limbs[at] ?? 0) * 58 + carry
        limbs[at] = next & 0xffffff
        carry = next >>> LIMB_BITS
      }
      if (carry > 0) limbs[used++] = carry
    },
    length,
    head(count) {
      const size = length()
      let value = 0
      for (let at = 0; at < count; at++) value = value * 256 + (at < zeros ? 0 : byteAt(at, size))
      return value
    },
    bytes() {
      const size = length()
      const bytes = new Uint8Array(size)
      for (let at = zeros; at < size; at++) bytes[at] = byteAt(at, size)
      return bytes
    },
  }
}
