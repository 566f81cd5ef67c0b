import { aboutPage } from './about-page.ts'
import { apiPage } from './reference/api-page.ts'
import { archivePage } from './archive-page.ts'
import { comparePage } from './compare-page.ts'
import { contestLedgerPage } from './contest-ledger-page.ts'
import { contestsPage } from './contests-page.ts'
import { eventPage } from './event-page.ts'
import { eventsPage } from './events-page.ts'
import { findPage } from './find-page.ts'
import { flowsPage } from './flows-page.ts'
import { fundsPage } from './funds-page.ts'
import { loyaltyPage } from './loyalty-page.ts'
import type { AnyPage } from './page.ts'
import { patternsPage } from './patterns-page.ts'
import { payoutsPage } from './payouts-page.ts'
import { schedulePage } from './schedule-page.ts'
import { statusPage } from './status-page.ts'
import { streamPage } from './stream-page.ts'
import { homePage, summaryPage } from './summary-page.ts'
import { verifyPage } from './verify-page.ts'

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
