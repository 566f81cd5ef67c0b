import { assert } from '../../protocol/brand.ts'
import type { Sha256 } from '../../tlog/hash.ts'

/** Slots of an empty table. A table has at least twice as many slots as rows. */
const SLOTS_MIN = 1_024
/** Longest text in bytes: that of a transaction identifier. */
const TEXT_BYTES_MAX = 128

/** Place of a text in the table, and its rank: 53 random bits, the same for the same text. */
type Row = Readonly<{ index: number; rank: number; isNew: boolean }>

/**
 * Set of texts that keeps 85 bits of the keyed hash of each and not the text: 20 to 40 bytes for each text. The key is
 * random and secret, so nobody can choose two texts with the same bits, or one with a low rank.
 */
type KeyedTable = Readonly<{
  /** Finds the row of a text, or adds one. Indexes begin at 0. */
  row(text: string): Row
}>

/** Opens an empty table with a random key of 32 bytes. */
export function openKeyedTable(key: Uint8Array, sha256: Sha256): KeyedTable {
  assert(key.length === 32, 'the key has 32 bytes')
  const input = new Uint8Array(key.length + TEXT_BYTES_MAX)
  input.set(key)
  const texts = input.subarray(key.length)
  const encoder = new TextEncoder()
  let slots = new Uint32Array(SLOTS_MIN)
  let ranks = new Float64Array(SLOTS_MIN / 2)
  let rests = new Uint32Array(SLOTS_MIN / 2)
  let size = 0

  /** Slot of a row with these bits, or the empty slot where it belongs. */
  function slotOf(rank: number, rest: number): number {
    let slot = rest % slots.length
    for (;;) {
      const index = (slots[slot] ?? 0) - 1
      if (index < 0 || (ranks[index] === rank && rests[index] === rest)) return slot
      slot = (slot + 1) % slots.length
    }
  }

  function grow(): void {
    ranks = widened(ranks, new Float64Array(slots.length))
    rests = widened(rests, new Uint32Array(slots.length))
    slots = new Uint32Array(slots.length * 2)
    for (let index = 0; index < size; index++) {
      slots[slotOf(ranks[index] ?? 0, rests[index] ?? 0)] = index + 1
    }
  }

  return {
    row(text) {
      const { read, written } = encoder.encodeInto(text, texts)
      assert(read === text.length, `a text has at most ${TEXT_BYTES_MAX} bytes`)
      const hash = sha256(input.subarray(0, key.length + written))
      const view = new DataView(hash.buffer, hash.byteOffset)
      const rank = view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)
      const rest = view.getUint32(8)
      let slot = slotOf(rank, rest)
      const found = (slots[slot] ?? 0) - 1
      if (found >= 0) return { index: found, rank, isNew: false }
      if (size * 2 >= slots.length) {
        grow()
        slot = slotOf(rank, rest)
      }
      ranks[size] = rank
      rests[size] = rest
      slots[slot] = size + 1
      size += 1
      return { index: size - 1, rank, isNew: true }
    },
  }
}

function widened<Column extends Float64Array | Uint32Array>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
