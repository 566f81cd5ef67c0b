import type { EndpointWithPage } from '../../protocol/endpoints/endpoints.ts'
import { aboutPage } from './about/about-page.ts'
import { apiPage } from '../reference/api-page.ts'
import { archivePage } from './archive/archive-page.ts'
import { contestLedgerPage } from './contests/contest-ledger-page.ts'
import { contestsPage } from './contests/contests-page.ts'
import { errorsPage } from '../reference/errors-page.ts'
import { eventPage } from './events/event-page.ts'
import { eventsPage, streamPage } from './events/events-page.ts'
import { findPage } from './find/find-page.ts'
import { flowsPage } from './ranges/flows-page.ts'
import { fundsPage } from './ranges/funds-page.ts'
import { loyaltyPage } from './loyalty/loyalty-page.ts'
import type { AnyPage, EndpointPage } from '../frame/page.ts'
import { patternsPage } from './ranges/patterns-page.ts'
import { payoutsPage } from './payouts/payouts-page.ts'
import { schedulePage } from './schedule/schedule-page.ts'
import { statusPage } from './status/status-page.ts'
import { summaryPage } from './summary/summary-page.ts'
import { todayPage } from './summary/today-page.ts'
import { verifyPage } from './verify/verify-page.ts'
import { waitsPage } from './payouts/waits-page.ts'

/** Pages without an endpoint at their path. */
type OtherPage = 'home' | 'find' | 'about' | 'api' | 'errors' | 'stream' | 'verify'

const BY_NAME: { readonly [Id in EndpointWithPage]: EndpointPage<Id> } & Readonly<
  Record<OtherPage, AnyPage>
> = {
  home: todayPage,
  summary: summaryPage,
  contests: contestsPage,
  contestLedger: contestLedgerPage,
  payouts: payoutsPage,
  waits: waitsPage,
  schedule: schedulePage,
  flows: flowsPage,
  funds: fundsPage,
  patterns: patternsPage,
  find: findPage,
  status: statusPage,
  about: aboutPage,
  api: apiPage,
  errors: errorsPage,
  archive: archivePage,
  loyaltyRuns: loyaltyPage,
  events: eventsPage,
  stream: streamPage,
  event: eventPage,
  verify: verifyPage,
}

/** Every page, in the order of the sitemap. */
export const PAGES: readonly AnyPage[] = Object.values(BY_NAME)
