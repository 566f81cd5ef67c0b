/** How a list is paged: the cursor (absent or 0 for the first page) and the rows of a page. */
export type Paging = Readonly<{ after?: number | undefined; limit?: number | undefined }>

/** A path with the parameters that are given, in this order. The values need no escaping: numbers and words. */
export function pathTo(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  )
  return given.length === 0 ? path : `${path}?${given.join('&')}`
}

/** The entries of a map by ascending key, so that an answer does not show the order in which keys appeared. */
export function sortedByKey<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}
