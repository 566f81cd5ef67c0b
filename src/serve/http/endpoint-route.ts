import { keysOf } from '../../protocol/brand.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { AnswerRoute, Route } from './route.ts'

/** Makes the reply to a request that has passed every check. */
export type RouteReply = AnswerRoute['handle']

/** The replies of some endpoints, one for each. */
export type EndpointReplies<Id extends EndpointId> = Readonly<Record<Id, RouteReply>>

/** Path, parameters and allowance of an endpoint's route, as its row says. */
export function endpointPlace(id: EndpointId): Pick<Route, 'path' | 'parameters' | 'allowance'> {
  const { path, parameters, allowance = 'api' } = endpointOf(id)
  return { path, parameters, allowance }
}

/** The route of an endpoint that answers at once. */
export function endpointRoute(id: EndpointId, handle: RouteReply): AnswerRoute {
  return { ...endpointPlace(id), brief: endpointOf(id).work === 'brief', handle }
}

/** The routes of these replies. */
export function endpointRoutes<Id extends EndpointId>(replies: EndpointReplies<Id>): readonly AnswerRoute[] {
  return keysOf(replies).map((id) => endpointRoute(id, replies[id]))
}
