/** Bloom filter of refs, whose memory does not depend on their number. */
type RefFilter = Readonly<{
  /** Adds the ref. True when it is certainly new. False for a repeated ref, and rarely for a new one. */
  isNew(ref: string): boolean
}>

/** Bits of the filter, and bits that each ref sets. With 5 million refs, one new ref in 10^9 counts as repeated. */
const BITS_LOG2 = 29
const PROBES = 8

export function openRefFilter(): RefFilter {
  const words = new Uint32Array(2 ** (BITS_LOG2 - 5))
  return {
    isNew(ref) {
      const { first, step } = hashesOf(ref)
      let place = first
      let isNew = false
      for (let probe = 0; probe < PROBES; probe++) {
        const bit = place >>> (32 - BITS_LOG2)
        const word = words[bit >>> 5] ?? 0
        const mask = 1 << (bit & 31)
        if ((word & mask) === 0) {
          isNew = true
          words[bit >>> 5] = word | mask
        }
        place = (place + step) >>> 0
      }
      return isNew
    },
  }
}

/** Two hashes of the text: the position of the first bit, and an odd step to the others. */
function hashesOf(text: string): Readonly<{ first: number; step: number }> {
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x5bd1e995)
    b ^= b >>> 15
  }
  return { first: mixed(a ^ text.length), step: mixed(b) | 1 }
}

/** Mixes all bits of a word (the finaliser of MurmurHash3). */
function mixed(hash: number): number {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
