/** Paging of a list: the cursor (absent or 0 for the first page) and the rows of a page. */
export type Paging = Readonly<{ after?: number | undefined; limit?: number | undefined }>

/** Path of the page after `after`, with the given parameters in this order. Values are numbers and words: none is escaped. */
export function pathTo(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>> & Readonly<{ after: number }>,
): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  )
  return `${path}?${given.join('&')}`
}
