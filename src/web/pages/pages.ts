import { aboutPage } from './about-page.ts'
import { apiPage } from '../reference/api-page.ts'
import { archivePage } from './archive/archive-page.ts'
import { comparePage } from './summary/compare-page.ts'
import { contestLedgerPage } from './contests/contest-ledger-page.ts'
import { contestsPage } from './contests/contests-page.ts'
import { eventPage } from './events/event-page.ts'
import { eventsPage } from './events/events-page.ts'
import { findPage } from './find-page.ts'
import { flowsPage } from './ranges/flows-page.ts'
import { fundsPage } from './ranges/funds-page.ts'
import { loyaltyPage } from './loyalty/loyalty-page.ts'
import type { AnyPage } from '../frame/page.ts'
import { patternsPage } from './ranges/patterns-page.ts'
import { payoutsPage } from './payouts/payouts-page.ts'
import { schedulePage } from './schedule/schedule-page.ts'
import { statusPage } from './status-page.ts'
import { streamPage } from './events/stream-page.ts'
import { homePage, summaryPage } from './summary/summary-page.ts'
import { verifyPage } from './verify/verify-page.ts'

/** Every page. The test of parity walks them all. */
export const PAGES: readonly AnyPage[] = [
  homePage,
  summaryPage,
  comparePage,
  contestsPage,
  contestLedgerPage,
  payoutsPage,
  schedulePage,
  flowsPage,
  fundsPage,
  patternsPage,
  findPage,
  statusPage,
  aboutPage,
  apiPage,
  archivePage,
  loyaltyPage,
  eventsPage,
  streamPage,
  eventPage,
  verifyPage,
]
