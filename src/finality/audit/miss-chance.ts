import { assert } from '../../protocol/brand.ts'

/** Chance as an exact fraction from 0 to 1. */
type Chance = Readonly<{ numerator: bigint; denominator: bigint }>

/** Random draw: the number of transactions, of false ones, and of drawn ones, each at most once. */
type Draw = Readonly<{ total: number; wrong: number; drawn: number }>

/**
 * Exact chance that a random sample contains none of the false ones: C(total − wrong, drawn) / C(total, drawn). It
 * costs as many multiplications as the smaller of `wrong` and `drawn`.
 */
export function missChance({ total, wrong, drawn }: Draw): Chance {
  assert(wrong <= total && drawn <= total, `${wrong} and ${drawn} are of ${total}`)
  // The formula is symmetric in the two numbers.
  const steps = Math.min(wrong, drawn)
  const others = total - Math.max(wrong, drawn)
  let numerator = 1n
  let denominator = 1n
  for (let step = 0; step < steps && numerator > 0n; step++) {
    numerator *= BigInt(Math.max(0, others - step))
    denominator *= BigInt(total - step)
  }
  return { numerator, denominator }
}

/** Chance in per cent, rounded up so that a text never promises too much. */
export function formatChance({ numerator, denominator }: Chance): string {
  if (numerator === 0n) return '0%'
  const tenths = (numerator * 1_000n + denominator - 1n) / denominator
  if (tenths > 1n) return `${tenths / 10n}.${tenths % 10n}%`
  const ofMillion = (numerator * 1_000_000n + denominator - 1n) / denominator
  return ofMillion > 1n ? `${decimals(ofMillion)}%` : 'less than 1 in a million'
}

/** Millionths as per cent, with four decimals. */
function decimals(millionths: bigint): string {
  return `0.${String(millionths).padStart(4, '0')}`
}

/** Numbers of false transactions for which a report states the chance: one, one in a hundred and one in twenty. */
export function statedWrongs(total: number): readonly number[] {
  const numbers = [1, Math.ceil(total / 100), Math.ceil(total / 20)]
  return [...new Set(numbers)].filter((wrong) => wrong > 0 && wrong <= total)
}

/** Arithmetic of a sample in plain words; none when everything or nothing was found right. */
export function chanceLines(total: number, drawn: number): readonly string[] {
  if (drawn === 0 || drawn === total) return []
  const chanceOf = (wrong: number): string => formatChance(missChance({ total, wrong, drawn }))
  const [one = 0, ...others] = statedWrongs(total)
  const first = `If ${one} of all ${total} was false, a sample of ${drawn} would miss it with a chance of ${chanceOf(one)}`
  const more = others.map(
    (wrong) => `With ${wrong} false ones, it would miss all of them with a chance of ${chanceOf(wrong)}`,
  )
  return [[first, ...more].map((sentence) => `${sentence}.`).join(' ')]
}
