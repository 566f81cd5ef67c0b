import type { Desk } from '../http/projection.ts'
import type { AnswerRoute } from '../http/route.ts'
import { asyncapiRoute } from '../describe/asyncapi.ts'
import { contestRoutes } from './contests.ts'
import { eventRoutes } from './event.ts'
import { eventsRoute } from './events.ts'
import { eventTypeRoutes } from './event-types.ts'
import { openapiRoute } from '../describe/openapi.ts'
import { paymentRoutes } from './payments.ts'
import { rangeRoutes } from './ranges.ts'
import { scheduleRoutes } from './schedule.ts'
import type { NodeReport } from './status.ts'
import { statusRoute } from './status.ts'
import { summaryRoute } from './summary.ts'

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
