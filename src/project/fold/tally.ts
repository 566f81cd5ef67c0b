import { type Amount, billionths } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'

/**
 * Running figures of the whole platform, in the order of their slots. Sums are in billionths of a token. `tokenPrice`
 * is in trillionths of a dollar (−1 before the first price), and the rest are counts. Add new figures at the end,
 * because rows in the store are read by position.
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

/** Most kinds of play in one log. Each adds a slot to every row of prefix totals. */
export const PLAY_KINDS_MAX = 256

/** Value of `tokenPrice` before the first price, and when every price is cancelled. */
export const NO_PRICE = -1n

/** Figures at one seq of the log. One fold owns them and changes them in place. */
export type Tally = Readonly<{
  figures: Record<Figure, bigint>
  /** Spending on play by kind, in the order of first appearance. */
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
/** Bytes of a figure in a row whose figures all fit 64 bits, which is nearly every row. */
const NARROW_BYTES = 8
/** Offset of the first figure, after one byte with the width of the figures. */
const FIGURES_AT = 1
const INT128_MAX = (1n << 127n) - 1n
const SLOTS: Readonly<Record<Figure, number>> = recordOf(FIGURES, (_, index) => index)

/**
 * Encodes a tally: one byte with the width of the integers, then one signed little-endian integer for each figure and
 * each kind of play. Integers have 64 bits when all of them fit, else 128.
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

/** One row of prefix totals. Figures are decoded on demand, because most answers need few of them. */
export type Totals = Readonly<{
  figure(name: Figure): bigint
  amount(name: Figure): Amount
  /** Spending on play by kind, for every kind up to then. */
  spentByKind(): ReadonlyMap<string, Amount>
}>

/** Returns the kinds of play in the order of first appearance, at least the first `count`. */
type KindsOf = (count: number) => readonly string[]

/** Decodes the bytes of `encodeTally` between `at` and `end`. */
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
        assert(kind !== undefined, `totals hold kind of play ${index}, but the store knows ${kinds.length}`)
        spent.set(kind, billionths(read(FIGURES.length + index)))
      }
      return spent
    },
  }
}

/** Tally with these totals, from which a fold can continue. */
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

/** Number of integers in the bytes of `encodeInt128s`. */
export function countInt128s(bytes: Uint8Array): number {
  return bytes.byteLength / SLOT_BYTES
}

/** Encodes signed 128-bit integers, as in rows of week-strided sums. */
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
  // Nearly every sum fits 64 bits. Then the upper half only repeats the sign.
  if (high === 0n ? low >= 0n : high === -1n && low < 0n) return low
  return (high << 64n) | BigInt.asUintN(64, low)
}
