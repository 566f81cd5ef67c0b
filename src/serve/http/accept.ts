/** Entries of a header that are read. */
const ENTRIES_MAX = 32
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Weights in an `Accept` or `Accept-Encoding` header, by name in lower case. The last weight of a repeated name counts. */
export function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const entry of header.toLowerCase().split(',', ENTRIES_MAX)) {
    const [name = '', ...parameters] = entry.split(';')
    let weight = 1
    for (const parameter of parameters) {
      const text = parameter.trim()
      // A malformed weight counts as 0.
      if (text.startsWith('q=')) weight = Number(WEIGHT.exec(text)?.[1] ?? 0)
    }
    weights.set(name.trim(), weight)
  }
  return weights
}

/**
 * Media type of `offered` that an `Accept` header prefers (RFC 9110, section 12.5.1). At equal weight, the more exact
 * name wins, then the earlier one of `offered`. When none is acceptable, the first.
 */
export function preferredType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  let [best] = offered
  if (accept === undefined) return best
  const weights = weightsOf(accept)
  let bestWeight = 0
  let bestExactness = 0
  for (const type of offered) {
    // The most exact matching range decides, even when it refuses a type that a wider one accepts.
    const wider = `${type.slice(0, type.indexOf('/'))}/*`
    const [range, exactness] = weights.has(type) ? [type, 2] : weights.has(wider) ? [wider, 1] : ['*/*', 0]
    const weight = weights.get(range) ?? 0
    if (weight > bestWeight || (weight === bestWeight && weight > 0 && exactness > bestExactness)) {
      best = type
      bestWeight = weight
      bestExactness = exactness
    }
  }
  return best
}

/** Whether an `Accept` header asks for a list as CSV. A list is JSON without one, and when it prefers neither. */
export function prefersCsv(accept: string | undefined): boolean {
  return preferredType(accept, ['application/json', 'text/csv']) === 'text/csv'
}
