import type { Amount } from '../../protocol/amount.ts'
import { billionths } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'

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
/** Bytes of a figure in a row whose figures all fit: nearly every row's do, and it is read and written as half. */
const NARROW_BYTES = 8
/** A tally's bytes begin with one that says how wide its figures are. */
const FIGURES_AT = 1
const INT128_MAX = (1n << 127n) - 1n
const SLOTS: Readonly<Record<Figure, number>> = recordOf(FIGURES, (_, index) => index)

/**
 * A tally as bytes: the width of an integer in bytes, then one signed little-endian integer per figure and one per kind
 * of play, of 64 bits each when all of them fit, else of 128.
 */
export function encodeTally(tally: Tally): Uint8Array {
  const values = [...FIGURES.map((figure) => tally.figures[figure]), ...tally.spentByKind.values()]
  const width = values.every((value) => BigInt.asIntN(64, value) === value) ? NARROW_BYTES : SLOT_BYTES
  const bytes = new Uint8Array(FIGURES_AT + values.length * width)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, width)
  values.forEach((value, slot) => {
    const at = FIGURES_AT + slot * width
    if (width === NARROW_BYTES) view.setBigInt64(at, value, true)
    else writeInt128(view, at, value)
  })
  return bytes
}

/** One row of prefix totals, read figure by figure: an answer of a thousand buckets needs few of them. */
export type Totals = Readonly<{
  figure(name: Figure): bigint
  amount(name: Figure): Amount
  /** Spent on play per kind, for every kind that had appeared by then. */
  spentByKind(): ReadonlyMap<string, Amount>
}>

/** Gives the kinds of play in the order of their appearance, at least the first `count`. */
export type KindsOf = (count: number) => readonly string[]

/** What `encodeTally` wrote, from `at` to `end` of some bytes. */
export function totalsOf(view: DataView, at: number, end: number, kindsOf: KindsOf): Totals {
  const width = view.getUint8(at)
  assert(width === NARROW_BYTES || width === SLOT_BYTES, `totals of ${width} bytes a figure`)
  const first = at + FIGURES_AT
  const read = (slot: number): bigint => {
    const place = first + slot * width
    return width === NARROW_BYTES ? view.getBigInt64(place, true) : readInt128(view, place)
  }
  return {
    figure: (name) => read(SLOTS[name]),
    amount: (name) => billionths(read(SLOTS[name])),
    spentByKind() {
      const count = (end - first) / width - FIGURES.length
      const kinds = kindsOf(count)
      const spent = new Map<string, Amount>()
      for (let index = 0; index < count; index++) {
        const kind = kinds[index]
        assert(kind !== undefined, `totals hold kind of play ${index}, the store knows ${kinds.length}`)
        spent.set(kind, billionths(read(FIGURES.length + index)))
      }
      return spent
    },
  }
}

/** A tally that a fold may go on from. */
export function tallyOf(totals: Totals): Tally {
  return { figures: recordOf(FIGURES, totals.figure), spentByKind: new Map(totals.spentByKind()) }
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
  values.forEach((value, slot) => writeInt128(view, slot * SLOT_BYTES, value))
  return bytes
}

export function decodeInt128s(bytes: Uint8Array): bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: countInt128s(bytes) }, (_, slot) => readInt128(view, slot * SLOT_BYTES))
}

function writeInt128(view: DataView, at: number, value: bigint): void {
  assert(value <= INT128_MAX && value >= -INT128_MAX - 1n, `a total of ${value} does not fit 128 bits`)
  view.setBigUint64(at, BigInt.asUintN(64, value), true)
  view.setBigInt64(at + 8, value >> 64n, true)
}

function readInt128(view: DataView, at: number): bigint {
  const low = view.getBigInt64(at, true)
  const high = view.getBigInt64(at + 8, true)
  // Nearly every sum fits 64 bits: then the upper half only repeats the sign.
  if (high === 0n ? low >= 0n : high === -1n && low < 0n) return low
  return (high << 64n) | BigInt.asUintN(64, low)
}
