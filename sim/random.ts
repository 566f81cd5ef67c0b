/** Random numbers from a seed: the same seed gives the same sequence on every machine. */
export type Random = Readonly<{
  /** Uniform in [0, 1). */
  next(): number
  /** A whole number from 0 to `limit`, exclusive. */
  below(limit: number): number
  /** A whole number from `low` to `high`, both inclusive. */
  between(low: number, high: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  /** One of the choices, with probabilities in proportion to the weights. */
  weighted<T>(choices: readonly (readonly [choice: T, weight: number])[]): T
  /** Exponential distribution: the time between independent events, `mean` on average. */
  exponential(mean: number): number
  /** Normal distribution with mean 0 and standard deviation 1. */
  normal(): number
  /** Log-normal distribution around `median`; `sigma` is the deviation of the logarithm. */
  lognormal(median: number, sigma: number): number
  /** Poisson distribution: the number of independent events, `mean` on average. */
  poisson(mean: number): number
  bytes(length: number): Uint8Array
}>

/** Mean above which a Poisson count is approximated by a normal distribution; the exact method is linear in the mean. */
const POISSON_EXACT_MAX = 30

/** Opens a random generator. Any text is a seed, and similar seeds give unrelated sequences. */
export function randomOf(seed: string): Random {
  const draw = sfc32(seed)
  const next = (): number => (draw() * 0x200000 + (draw() >>> 11)) / 0x20000000000000
  const below = (limit: number): number => Math.floor(next() * limit)
  const exponential = (mean: number): number => -Math.log(1 - next()) * mean
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
    weighted: (choices) => weightedOf(choices, next()),
    exponential,
    normal,
    lognormal: (median, sigma) => median * Math.exp(normal() * sigma),
    poisson(mean) {
      if (mean > POISSON_EXACT_MAX) return Math.max(0, Math.round(mean + normal() * Math.sqrt(mean)))
      let count = 0
      for (let waited = exponential(1); waited < mean; waited += exponential(1)) count++
      return count
    },
    bytes(length) {
      const bytes = new Uint8Array(length)
      for (let index = 0; index < length; index++) bytes[index] = draw() & 255
      return bytes
    },
  }
}

function weightedOf<T>(choices: readonly (readonly [T, number])[], share: number): T {
  let total = 0
  for (const [, weight] of choices) total += weight
  let left = share * total
  let last: T | undefined
  for (const [choice, weight] of choices) {
    last = choice
    left -= weight
    if (left < 0) return choice
  }
  if (last === undefined) throw new RangeError('a weighted choice needs at least one choice')
  return last
}

/** Generator sfc32 by Chris Doty-Humphrey, with four words of state. It passes the usual statistical tests. */
function sfc32(seed: string): () => number {
  let [a, b, c] = [0x9e3779b9, 0x243f6a88, 0xb7e15162]
  let counter = 1
  const draw = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  for (const character of seed) {
    a = (a ^ (character.codePointAt(0) ?? 0)) | 0
    draw()
  }
  // The first outputs still depend visibly on the seed, so a few rounds are skipped.
  for (let round = 0; round < 24; round++) draw()
  return draw
}
