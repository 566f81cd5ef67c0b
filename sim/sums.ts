import type { Random } from './random.ts'

/** Random amount in billionths with nine significant decimals; `median` is in whole tokens. */
export function amountAbout(random: Random, median: number, sigma: number): bigint {
  const millionths = Math.max(1, Math.floor(random.lognormal(median, sigma) * 1e6))
  return BigInt(millionths) * 1000n + BigInt(random.below(1000))
}

/** Percentage of an amount, rounded down. */
export function portionOf(amount: bigint, percent: number): bigint {
  return (amount * BigInt(percent)) / 100n
}

/** Splits an amount into at most `count` unequal parts. None of them is zero, and their sum is the amount. */
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
