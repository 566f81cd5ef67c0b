/** Count with its noun, as people write it: `1 event`, `0 events`, `2 witnesses`. `many` is the plural. */
export function formatCount(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : many}`
}
