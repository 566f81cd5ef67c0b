import type { Parameter } from '../../protocol/parameters.ts'
import { isRepeatable } from '../../serve/query/address.ts'
import { parseQuery } from '../../serve/query/query.ts'
import type { Reply } from '../../serve/http/route.ts'
import { canonicalQuery } from '../markup/form-query.ts'

/**
 * Redirect of a refused form to its query in the API's syntax; undefined for a query that no form made. A query that the
 * page would refuse again is not repeated: `parameters` are those of a page that has not checked the query yet.
 */
export function formRedirect(
  path: string,
  rawQuery: string,
  parameters?: readonly Parameter[],
): Reply | undefined {
  const canonical = canonicalQuery(rawQuery)
  if (canonical === rawQuery || !isRepeatable(`${path}?${rawQuery}`)) return undefined
  if (parameters !== undefined && !parseQuery(canonical, parameters).ok) return undefined
  return { is: 'elsewhere', status: 303, location: `${path}${canonical === '' ? '' : `?${canonical}`}` }
}
