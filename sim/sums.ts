import type { Random } from './random.ts'

/** Draws an amount in billionths whose last digits look as lived-in as the first: `median` is in whole tokens. */
export function amountAbout(random: Random, median: number, sigma: number): bigint {
  const millionths = Math.max(1, Math.floor(random.lognormal(median, sigma) * 1e6))
  return BigInt(millionths) * 1000n + BigInt(random.below(1000))
}

/** `percent` hundredths of an amount, rounded down. */
export function portionOf(amount: bigint, percent: number): bigint {
  return (amount * BigInt(percent)) / 100n
}

/** Splits an amount into at most `count` parts of uneven size, none of them zero, that add up to it. */
export function split(random: Random, amount: bigint, count: number): readonly bigint[] {
  const shares = Array.from({ length: count }, () => BigInt(random.between(400, 1600)))
  const all = shares.reduce((sum, share) => sum + share, 0n)
  const parts: bigint[] = []
  let left = amount
  shares.forEach((share, index) => {
    const part = index === count - 1 ? left : (amount * share) / all
    if (part === 0n) return
    parts.push(part)
    left -= part
  })
  return parts
}
