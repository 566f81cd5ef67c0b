import type { Range } from '../../protocol/endpoints/figure-endpoints.ts'

/** Query for the range of an answer. The first week begins before 1970, and a time in a query does not. */
export function rangeQuery({ fromMs, toMs, bucket }: Pick<Range, 'fromMs' | 'toMs' | 'bucket'>): string {
  const [from, to] = [new Date(Math.max(0, fromMs)), new Date(toMs)]
  return `from=${from.toISOString()}&to=${to.toISOString()}&bucket=${bucket}`
}
