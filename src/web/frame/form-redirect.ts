import { isRepeatable } from '../../serve/http/address.ts'
import type { Reply } from '../../serve/http/route.ts'
import { canonicalQuery } from '../markup/form-query.ts'

/** Redirect of a refused form to its query in the API's syntax; undefined for a query that no form made. */
export function formRedirect(path: string, rawQuery: string): Reply | undefined {
  const canonical = canonicalQuery(rawQuery)
  if (canonical === rawQuery || !isRepeatable(`${path}?${rawQuery}`)) return undefined
  return { is: 'elsewhere', status: 303, location: `${path}${canonical === '' ? '' : `?${canonical}`}` }
}
