import type { Amount } from '../protocol/amount.ts'
import { billionths } from '../protocol/amount.ts'
import { assert, recordOf } from '../protocol/brand.ts'

/**
 * The running figures of the whole platform, in the order of their slots. Sums count billionths of a token,
 * `tokenPrice` trillionths of a dollar (−1 before the first price), the rest plain numbers.
 * New figures go to the end: rows in the store are read by position.
 */
export const FIGURES = [
  'plays',
  'entries',
  'payouts',
  'spentOnPlay',
  'paidInPrizes',
  'paidInLoyalty',
  'burned',
  'runningPools',
  'prizesNotRedeemed',
  'treasury',
  'loyaltyFund',
  'players',
  'world',
  'upcoming',
  'running',
  'paying',
  'paid',
  'tokenPrice',
] as const

export type Figure = (typeof FIGURES)[number]

/** Kinds of play that one log may have: each adds a slot to every row of the prefix totals. */
export const PLAY_KINDS_MAX = 256

/** What `tokenPrice` holds before the first price and when every price was cancelled. */
export const NO_PRICE = -1n

/** The figures as of one place of the log; owned and changed in place by one fold. */
export type Tally = Readonly<{
  figures: Record<Figure, bigint>
  /** Spent on play by kind, in the order in which the kinds first appeared. */
  spentByKind: Map<string, bigint>
}>

export function emptyTally(): Tally {
  return {
    figures: recordOf(FIGURES, (figure) => (figure === 'tokenPrice' ? NO_PRICE : 0n)),
    spentByKind: new Map(),
  }
}

export function copyTally(tally: Tally): Tally {
  return { figures: { ...tally.figures }, spentByKind: new Map(tally.spentByKind) }
}

const SLOT_BYTES = 16
const INT128_MAX = (1n << 127n) - 1n
const SLOTS: Readonly<Record<Figure, number>> = recordOf(FIGURES, (_, index) => index)

/** How many kinds of play a tally's bytes hold. */
export function kindSlots(bytes: Uint8Array): number {
  return bytes.byteLength / SLOT_BYTES - FIGURES.length
}

/** A tally as bytes: one signed 128-bit little-endian integer per figure, then one per kind of play. */
export function encodeTally(tally: Tally): Uint8Array {
  const slots = FIGURES.length + tally.spentByKind.size
  const bytes = new Uint8Array(slots * SLOT_BYTES)
  const view = new DataView(bytes.buffer)
  FIGURES.forEach((figure, slot) => writeSlot(view, slot, tally.figures[figure]))
  let slot = FIGURES.length
  for (const spent of tally.spentByKind.values()) writeSlot(view, slot++, spent)
  return bytes
}

/** Reads back what `encodeTally` wrote; `kinds` are the kinds of play in the order of their appearance. */
export function decodeTally(bytes: Uint8Array, kinds: readonly string[]): Tally {
  const tally = emptyTally()
  const view = viewOf(bytes)
  FIGURES.forEach((figure, slot) => {
    tally.figures[figure] = readSlot(view, slot)
  })
  for (let index = 0; index < kindSlots(bytes); index++) {
    const kind = kinds[index]
    assert(kind !== undefined, `totals hold kind of play ${index}, the store knows ${kinds.length}`)
    tally.spentByKind.set(kind, readSlot(view, FIGURES.length + index))
  }
  return tally
}

/** One row of prefix totals, read slot by slot: an answer of a thousand buckets needs few of them. */
export type Totals = Readonly<{
  figure(name: Figure): bigint
  amount(name: Figure): Amount
  /** Spent on play per kind, for every kind that had appeared by then. */
  spentByKind(): ReadonlyMap<string, Amount>
}>

export function totalsOf(bytes: Uint8Array, kinds: readonly string[]): Totals {
  const view = viewOf(bytes)
  return {
    figure: (name) => readSlot(view, SLOTS[name]),
    amount: (name) => billionths(readSlot(view, SLOTS[name])),
    spentByKind() {
      const spent = new Map<string, Amount>()
      for (let index = 0; index < kindSlots(bytes); index++) {
        const kind = kinds[index]
        assert(kind !== undefined, `totals hold kind of play ${index}, the store knows ${kinds.length}`)
        spent.set(kind, billionths(readSlot(view, FIGURES.length + index)))
      }
      return spent
    },
  }
}

export function totalsOfTally(tally: Tally): Totals {
  return {
    figure: (name) => tally.figures[name],
    amount: (name) => billionths(tally.figures[name]),
    spentByKind: () => new Map([...tally.spentByKind].map(([kind, spent]) => [kind, billionths(spent)])),
  }
}

/** How many integers the bytes of `encodeInt128s` hold. */
export function countInt128s(bytes: Uint8Array): number {
  return bytes.byteLength / SLOT_BYTES
}

/** A list of signed 128-bit integers as bytes: the rows of the week-strided sums. */
export function encodeInt128s(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(values.length * SLOT_BYTES)
  const view = new DataView(bytes.buffer)
  values.forEach((value, slot) => writeSlot(view, slot, value))
  return bytes
}

export function decodeInt128s(bytes: Uint8Array): bigint[] {
  const view = viewOf(bytes)
  return Array.from({ length: countInt128s(bytes) }, (_, slot) => readSlot(view, slot))
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function writeSlot(view: DataView, slot: number, value: bigint): void {
  assert(value <= INT128_MAX && value >= -INT128_MAX - 1n, `a total of ${value} does not fit 128 bits`)
  view.setBigUint64(slot * SLOT_BYTES, BigInt.asUintN(64, value), true)
  view.setBigInt64(slot * SLOT_BYTES + 8, value >> 64n, true)
}

function readSlot(view: DataView, slot: number): bigint {
  const low = view.getBigInt64(slot * SLOT_BYTES, true)
  const high = view.getBigInt64(slot * SLOT_BYTES + 8, true)
  // Nearly every total fits 64 bits: then the upper half only repeats the sign.
  if (high === 0n ? low >= 0n : high === -1n && low < 0n) return low
  return (high << 64n) | BigInt.asUintN(64, low)
}
