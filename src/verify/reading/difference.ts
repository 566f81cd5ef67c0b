import { isJsonObject } from './json-values.ts'

/**
 * Path of the first difference between a published JSON value and the recomputed one: `buckets[3].burned`, or the empty
 * text for the whole value; null when they are equal. Repeats no name from the published value.
 */
export function difference(published: unknown, recomputed: unknown, place = ''): string | null {
  if (Array.isArray(recomputed)) {
    if (!Array.isArray(published)) return place
    const index = recomputed.findIndex((value, at) => difference(published[at], value) !== null)
    if (index >= 0) return difference(published[index], recomputed[index], `${place}[${index}]`)
    return published.length === recomputed.length ? null : `${place}[${recomputed.length}]`
  }
  if (!isJsonObject(recomputed)) return published === recomputed ? null : place
  if (!isJsonObject(published)) return place
  for (const [name, value] of Object.entries(recomputed)) {
    const inside = place === '' ? name : `${place}.${name}`
    const found = difference(Object.hasOwn(published, name) ? published[name] : undefined, value, inside)
    if (found !== null) return found
  }
  const unknown = Object.keys(published).some((name) => !Object.hasOwn(recomputed, name))
  return unknown ? `${place === '' ? '' : `${place}, `}an unknown field` : null
}
