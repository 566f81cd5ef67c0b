import type { Desk } from '../http/projection.ts'
import type { AnswerRoute } from '../http/route.ts'
import { asyncapiRoute } from '../describe/asyncapi.ts'
import { contestRoutes } from './contests-routes.ts'
import { eventRoutes } from './event-routes.ts'
import { eventsRoute } from './events-route.ts'
import { eventTypeRoutes } from './event-types-routes.ts'
import { openapiRoute } from '../describe/openapi.ts'
import { paymentRoutes } from './payments-routes.ts'
import { rangeRoutes } from './ranges-routes.ts'
import { scheduleRoutes } from './schedule-routes.ts'
import type { NodeReport } from './status-route.ts'
import { statusRoute } from './status-route.ts'
import { summaryRoute } from './summary-route.ts'

/** Every route of the API but the stream's and the archive's, which have rooms of their own. */
export function apiRoutes(desk: Desk, node: NodeReport): readonly AnswerRoute[] {
  return [
    summaryRoute(desk),
    ...contestRoutes(desk),
    ...scheduleRoutes(desk),
    ...paymentRoutes(desk),
    ...rangeRoutes(desk),
    eventsRoute(desk),
    ...eventRoutes(desk),
    ...eventTypeRoutes(desk),
    openapiRoute(node.version),
    asyncapiRoute(node.version),
    statusRoute(desk, node),
  ]
}
