import { type Amount, billionths } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'

/**
 * Running figures of the whole platform, in the order of their slots. Sums are in billionths of a token. `tokenPrice`
 * is in trillionths of a dollar (−1 before the first price), and the rest are counts. Rows in the store are read by
 * position, so another order is another schema of the store.
 */
export const FIGURES = [
  'plays',
  'entries',
  'payouts',
  'spentOnPlay',
  'paidInPrizes',
  'paidInLoyalty',
  'refunded',
  'burned',
  'deposited',
  'withdrawn',
  'sponsored',
  'expired',
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

/** Most kinds of play in one log, of prize, of payout and of burn. Most of them add a slot to every row of totals. */
export const KINDS_MAX = 256

/** Figures that are also kept by kind, in the order of their slots. */
export const KIND_FIGURES = ['spentOnPlay', 'paidInPrizes', 'burned'] as const satisfies readonly Figure[]

export type KindFigure = (typeof KIND_FIGURES)[number]

/** Type of the events whose kinds these are. */
export const KIND_TYPES = {
  spentOnPlay: 'play',
  paidInPrizes: 'payout',
  burned: 'burn',
} as const satisfies Record<KindFigure, string>

/** Value of `tokenPrice` before the first price, and when every price is cancelled. */
export const NO_PRICE = -1n

/** Figures at one seq of the log. One fold owns them and changes them in place. */
export type Tally = Readonly<{
  figures: Record<Figure, bigint>
  /** Parts of these figures by kind, in the order of first appearance. */
  byKind: Readonly<Record<KindFigure, Map<string, bigint>>>
}>

export function emptyTally(): Tally {
  return {
    figures: recordOf(FIGURES, (figure) => (figure === 'tokenPrice' ? NO_PRICE : 0n)),
    byKind: recordOf(KIND_FIGURES, () => new Map<string, bigint>()),
  }
}

export function copyTally(tally: Tally): Tally {
  return {
    figures: { ...tally.figures },
    byKind: recordOf(KIND_FIGURES, (figure) => new Map(tally.byKind[figure])),
  }
}

const SLOT_BYTES = 16
/** Bytes of a figure in a row whose figures all fit 64 bits, which is nearly every row. */
const NARROW_BYTES = 8
/** Offset of the first integer, after one byte with the width of all. */
const INTEGERS_AT = 1
/** Bytes of the number of kinds of a figure. */
const COUNT_BYTES = 2
/** Bytes of these numbers, before the sums by kind. */
const COUNTS_BYTES: number = KIND_FIGURES.length * COUNT_BYTES
const INT128_MAX = (1n << 127n) - 1n
const SLOTS: Readonly<Record<Figure, number>> = recordOf(FIGURES, (_, index) => index)

/** Encodes the figures of a tally, as integers of one width. */
export function encodeTally(tally: Tally): Uint8Array {
  return encodeIntegers(FIGURES.map((figure) => tally.figures[figure]))
}

/** Encodes the parts by kind: the number of kinds of each of `KIND_FIGURES` (16 bits), then integers of one width. */
export function encodeKinds({ byKind }: Tally): Uint8Array {
  const sums = KIND_FIGURES.map((figure) => byKind[figure])
  const integers = encodeIntegers(sums.flatMap((one) => [...one.values()]))
  const bytes = new Uint8Array(COUNTS_BYTES + integers.byteLength)
  const view = new DataView(bytes.buffer)
  sums.forEach(({ size }, index) => view.setUint16(index * COUNT_BYTES, size, true))
  bytes.set(integers, COUNTS_BYTES)
  return bytes
}

/**
 * Encodes integers: one byte with their width, then each as a signed little-endian integer. They have 64 bits when all
 * fit, else 128.
 */
function encodeIntegers(values: readonly bigint[]): Uint8Array {
  const width = values.every((value) => BigInt.asIntN(64, value) === value) ? NARROW_BYTES : SLOT_BYTES
  const bytes = new Uint8Array(INTEGERS_AT + values.length * width)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, width)
  values.forEach((value, slot) => {
    const at = INTEGERS_AT + slot * width
    if (width === NARROW_BYTES) view.setBigInt64(at, value, true)
    else writeInt128(view, at, value)
  })
  return bytes
}

/** Opens the integers that `encodeIntegers` wrote at `at`. */
function integersAt(view: DataView, at: number): (slot: number) => bigint {
  const width = view.getUint8(at)
  assert(width === NARROW_BYTES || width === SLOT_BYTES, `totals of ${width} bytes an integer`)
  const first = at + INTEGERS_AT
  return (slot) => {
    const place = first + slot * width
    return width === NARROW_BYTES ? view.getBigInt64(place, true) : readInt128(view, place)
  }
}

/** One row of prefix totals. Figures are decoded on demand, because most answers need few of them. */
export type Totals = Readonly<{
  figure(name: Figure): bigint
  amount(name: Figure): Amount
  /** Parts of a figure by kind, for every kind up to then, in the order of first appearance. */
  byKind(figure: KindFigure): ReadonlyMap<string, Amount>
}>

/** Returns the kinds of a figure in the order of first appearance, at least the first `count`. */
type KindsOf = (figure: KindFigure, count: number) => readonly string[]

/** Position of a row's figures and of its sums by kind, which are null when they were not read. */
type TotalsAt = Readonly<{ figuresAt: number; kindsAt: number | null }>

/** Decodes the bytes of `encodeTally` and `encodeKinds`. */
export function totalsOf(view: DataView, { figuresAt, kindsAt }: TotalsAt, kindsOf: KindsOf): Totals {
  const read = integersAt(view, figuresAt)
  return {
    figure: (name) => read(SLOTS[name]),
    amount: (name) => billionths(read(SLOTS[name])),
    byKind(figure) {
      assert(kindsAt !== null, `the totals were read without the kinds of ${figure}`)
      const place = KIND_FIGURES.indexOf(figure)
      const counts = KIND_FIGURES.map((_, index) => view.getUint16(kindsAt + index * COUNT_BYTES, true))
      const firstSlot = counts.slice(0, place).reduce((slot, count) => slot + count, 0)
      const count = counts[place] ?? 0
      const kinds = kindsOf(figure, count)
      const sumAt = integersAt(view, kindsAt + COUNTS_BYTES)
      const sums = new Map<string, Amount>()
      for (let index = 0; index < count; index++) {
        const kind = kinds[index]
        assert(
          kind !== undefined,
          `totals hold kind ${index} of ${figure}, but the store knows ${kinds.length}`,
        )
        sums.set(kind, billionths(sumAt(firstSlot + index)))
      }
      return sums
    },
  }
}

/** Tally with these totals, from which a fold can continue. */
export function tallyOf(totals: Totals): Tally {
  return {
    figures: recordOf(FIGURES, totals.figure),
    byKind: recordOf(KIND_FIGURES, (figure) => new Map(totals.byKind(figure))),
  }
}

export function totalsOfTally(tally: Tally): Totals {
  return {
    figure: (name) => tally.figures[name],
    amount: (name) => billionths(tally.figures[name]),
    byKind: (figure) => new Map([...tally.byKind[figure]].map(([kind, sum]) => [kind, billionths(sum)])),
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
