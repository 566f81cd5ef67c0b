import { keysOf } from '../../protocol/brand.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { AnswerRoute, Route } from './route.ts'

/** Makes the reply to a request that has passed every check. */
export type RouteReply = AnswerRoute['handle']

/** Answer of an endpoint: its reply, and if it has one the value of which a page is made. */
export type EndpointAnswer = Pick<AnswerRoute, 'handle' | 'value'>

/** The answers of some endpoints, one for each. One that has only a reply is that alone. */
export type EndpointAnswers<Id extends EndpointId> = Readonly<Record<Id, EndpointAnswer | RouteReply>>

/** Path, parameters and allowance of an endpoint's route, as its row says. */
export function endpointPlace(id: EndpointId): Pick<Route, 'path' | 'parameters' | 'allowance'> {
  const { path, parameters, allowance = 'api' } = endpointOf(id)
  return { path, parameters, allowance }
}

/** The route of an endpoint that answers at once. */
export function endpointRoute(id: EndpointId, answer: EndpointAnswer | RouteReply): AnswerRoute {
  const made = typeof answer === 'function' ? { handle: answer } : answer
  return { ...endpointPlace(id), brief: endpointOf(id).work === 'brief', ...made }
}

/** The routes of these answers. */
export function endpointRoutes<Id extends EndpointId>(answers: EndpointAnswers<Id>): readonly AnswerRoute[] {
  return keysOf(answers).map((id) => endpointRoute(id, answers[id]))
}
