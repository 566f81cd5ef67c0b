import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'

/** A local date and time as a form field sends it, percent-encoded or not. */
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}(?::|%3A)\d{2}(?:(?::|%3A)\d{2}(?:\.\d{1,3})?)?$/i

/** The parameters that take several values: a form has a box for each. */
const LISTS: ReadonlySet<string> = new Set(
  ENDPOINTS.flatMap(({ parameters }) => parameters.filter(({ form }) => form.is === 'list-of')).map(
    ({ name }) => name,
  ),
)

/**
 * A form's query as the API writes it: fields left blank are left out, `datetime-local` is taken as UTC, boxes ticked
 * under the name of a list become one. A query that is no form's comes back as it is.
 */
export function canonicalQuery(raw: string): string {
  const pairs: { name: string; value: string }[] = []
  for (const pair of raw === '' ? [] : raw.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0) return raw
    const name = pair.slice(0, equals)
    const value = pair.slice(equals + 1)
    if (value === '') continue
    const utc = LOCAL_TIME.test(value) ? `${value}Z` : value
    const earlier = LISTS.has(name) ? pairs.find((one) => one.name === name) : undefined
    if (earlier === undefined) pairs.push({ name, value: utc })
    else earlier.value += `,${utc}`
  }
  return pairs.map(({ name, value }) => `${name}=${value}`).join('&')
}
