/** A seeded source of chance: the same seed gives the same sequence on every machine. */
export type Random = Readonly<{
  /** Evenly spread over [0, 1). */
  next(): number
  /** A whole number from 0 to `limit`, exclusive. */
  below(limit: number): number
  /** A whole number from `low` to `high`, both inclusive. */
  between(low: number, high: number): number
  /** Whether something of this probability happens. */
  chance(probability: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  /** One of the choices, each as often as its weight says. */
  weighted<T>(choices: readonly (readonly [choice: T, weight: number])[]): T
  /** The waiting time between independent happenings, `mean` on average. */
  exponential(mean: number): number
  /** Spread around 0 with deviation 1. */
  normal(): number
  /** Spread around `median` on a scale of ratios; `sigma` 1 is a wide spread. */
  lognormal(median: number, sigma: number): number
  /** How many of many rare things happen, `mean` on average. */
  poisson(mean: number): number
  bytes(length: number): Uint8Array
}>

/** Above this mean a count is drawn from the bell curve: the exact way costs time in proportion to the mean. */
const POISSON_EXACT_MAX = 30

/** Opens a source; every seed is fine, and near seeds give unrelated sequences. */
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

/** Chris Doty-Humphrey's sfc32: four words of state, passes the usual batteries, no multiplication. */
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
  // The first outputs still show the seed; a few rounds spread it over the whole state.
  for (let round = 0; round < 24; round++) draw()
  return draw
}
