import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { isList } from '../../protocol/parameters.ts'

/** Value of a `datetime-local` field, percent-encoded or not. */
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}(?::|%3A)\d{2}(?:(?::|%3A)\d{2}(?:\.\d{1,3})?)?$/i

/** Names of the parameters that take a list. A form has a checkbox for each value. */
const LISTS: ReadonlySet<string> = new Set(
  ENDPOINTS.flatMap(({ parameters }) => parameters.filter(({ form }) => isList(form))).map(
    ({ name }) => name,
  ),
)

/** Value of a blank field: nothing, or blanks in the encoding of a form or a link. */
const BLANK = /^(?:\+|%20)*$/

/**
 * Query of a form in the API's syntax: without blank fields, with `datetime-local` values as UTC, and with checkboxes of
 * one list joined by commas. Returns any other query unchanged.
 */
export function canonicalQuery(raw: string): string {
  const pairs: { name: string; value: string }[] = []
  for (const pair of raw === '' ? [] : raw.split('&')) {
    const equals = pair.indexOf('=')
    if (equals < 0) return raw
    const name = pair.slice(0, equals)
    const value = pair.slice(equals + 1)
    if (BLANK.test(value)) continue
    const utc = LOCAL_TIME.test(value) ? `${value}Z` : value
    const earlier = LISTS.has(name) ? pairs.find((one) => one.name === name) : undefined
    if (earlier === undefined) pairs.push({ name, value: utc })
    else earlier.value += `,${utc}`
  }
  return pairs.map(({ name, value }) => `${name}=${value}`).join('&')
}
