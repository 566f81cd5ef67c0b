import type { FileEndpoint } from '../../protocol/endpoints/endpoint-rows.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { asyncapiReply } from '../describe/asyncapi.ts'
import { openapiReply } from '../describe/openapi.ts'
import { type EndpointReplies, endpointRoutes } from '../http/endpoint-route.ts'
import type { Desk } from '../http/projection.ts'
import type { AnswerRoute } from '../http/route.ts'
import { contestReplies } from './contests-routes.ts'
import { eventReplies } from './event-routes.ts'
import { eventTypeReplies } from './event-types-routes.ts'
import { eventsRoute } from './events-route.ts'
import { indexRoute } from '../describe/api-index.ts'
import { paymentReplies } from './payments-routes.ts'
import { rangeReplies } from './ranges-routes.ts'
import { scheduleReplies } from './schedule-routes.ts'
import { type NodeReport, statusReply } from './status-route.ts'
import { summaryReply } from './summary-route.ts'

/** Endpoints other than those of the stream and the archive. */
type ApiEndpoint = Exclude<EndpointId, FileEndpoint | 'stream'>

/** Routes of the API, except for the stream and the archive. */
export function apiRoutes(desk: Desk, node: NodeReport): readonly AnswerRoute[] {
  const replies: EndpointReplies<Exclude<ApiEndpoint, 'events'>> = {
    summary: summaryReply(desk),
    ...contestReplies(desk),
    ...scheduleReplies(desk),
    ...paymentReplies(desk),
    ...rangeReplies(desk),
    ...eventReplies(desk),
    ...eventTypeReplies(desk),
    openapi: openapiReply(node),
    asyncapi: asyncapiReply(node),
    status: statusReply(desk, node),
  }
  return [...endpointRoutes(replies), eventsRoute(desk), indexRoute(node.licence)]
}
