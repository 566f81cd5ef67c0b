/** Entries of an `Accept` header that are read. */
const ENTRIES_MAX = 32
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** How well an `Accept` header matches a media type: its weight, and by which range it is given. */
type Match = Readonly<{ quality: number; specificity: number }>

/**
 * The media type of `offered` that an `Accept` header prefers (RFC 9110, section 12.5.1). Of types with the same weight it
 * is the one that is named more exactly, then the earlier one of `offered`. Also when none is acceptable, the first.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  let [best] = offered
  if (accept === undefined) return best
  const ranges = rangesOf(accept)
  let least: Match = matchOf(ranges, best)
  for (const type of offered.slice(1)) {
    const match = matchOf(ranges, type)
    const isBetter =
      match.quality > least.quality ||
      (match.quality === least.quality && match.quality > 0 && match.specificity > least.specificity)
    if (isBetter) [best, least] = [type, match]
  }
  return best
}

/** Weight of each media range; of one that is named twice, the last. */
function rangesOf(accept: string): ReadonlyMap<string, number> {
  const ranges = new Map<string, number>()
  for (const entry of accept.toLowerCase().split(',', ENTRIES_MAX)) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    // A malformed weight counts as 0.
    ranges.set(range, weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0))
  }
  return ranges
}

/** The most exact range that matches a type decides, also when it refuses what a wider one accepts. */
function matchOf(ranges: ReadonlyMap<string, number>, type: string): Match {
  const named = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']
  const at = named.findIndex((range) => ranges.has(range))
  return at < 0
    ? { quality: 0, specificity: 0 }
    : { quality: ranges.get(named[at] ?? '') ?? 0, specificity: named.length - at }
}
