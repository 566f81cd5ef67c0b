import { keysOf } from '../protocol/brand.ts'
import type { Answers, RawEndpoint } from '../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS, type EndpointId, type PathPart } from '../protocol/paths.ts'
import type { Ask } from './ask.ts'
import { isOfType } from './daybook-error.ts'
import { endpointPath, type QueryOf, type QueryValues } from './endpoint-query.ts'

/** Endpoints with a method. Files and the stream have functions of their own. */
type AskedEndpoint = Exclude<EndpointId, RawEndpoint>
/** Value of the variable part of an endpoint's path. */
type PathValue<One extends AskedEndpoint> = PathPart<One> extends 'type' ? string : number
type Asked<One extends AskedEndpoint> = Omit<QueryOf<One>, 'format'> &
  Readonly<{ signal?: AbortSignal | undefined }>
type AnyAsked = Omit<QueryValues, 'signal'> & Readonly<{ signal?: AbortSignal | undefined }>

/** One method for each endpoint. It takes the variable part of the path, if there is one, then the parameters. */
export type Methods = Readonly<{
  [One in AskedEndpoint]: [PathPart<One>] extends [never]
    ? (asked?: Asked<One>) => Promise<Answers[One]>
    : (value: PathValue<One>, asked?: Asked<One>) => Promise<Answers[One]>
}>

const JSON_TYPES = ['application/json', 'application/schema+json']

/** Makes the methods from the table of endpoints. Answers are parsed, and their form is not checked. */
export function methodsOf({ get }: Pick<Ask, 'get'>): Methods {
  const method = (id: EndpointId) => async (first?: string | number | AnyAsked, second?: AnyAsked) => {
    const [value, asked = {}] = typeof first === 'object' ? ['', first] : [first ?? '', second]
    const { signal, ...query } = asked
    const answer = await get(endpointPath(id, value, query), { signal })
    const isJson = JSON_TYPES.some((type) => isOfType(answer.headers, type))
    return isJson ? answer.json() : answer.text()
  }
  return Object.fromEntries(keysOf(ENDPOINT_PATHS).map((id): readonly unknown[] => [id, method(id)]))
}
