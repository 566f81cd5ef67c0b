/** A local date and time as a form field sends it, percent-encoded or not. */
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}(?::|%3A)\d{2}(?:(?::|%3A)\d{2}(?:\.\d{1,3})?)?$/i

/**
 * A form's query as the API writes it: fields left blank are left out, `datetime-local` is taken as UTC, boxes ticked
 * under one name become a list. A query that is no form's comes back as it is.
 */
export function canonicalQuery(raw: string): string {
  const values = new Map<string, string[]>()
  for (const pair of raw === '' ? [] : raw.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0) return raw
    const name = pair.slice(0, equals)
    const value = pair.slice(equals + 1)
    if (value === '') continue
    const utc = LOCAL_TIME.test(value) ? `${value}Z` : value
    values.set(name, [...(values.get(name) ?? []), utc])
  }
  return [...values].map(([name, list]) => `${name}=${list.join(',')}`).join('&')
}
