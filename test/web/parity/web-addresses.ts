import { ENDPOINTS } from '../../../src/protocol/endpoints/endpoints.ts'
import { pathParts } from '../../../src/protocol/paths.ts'
import type { ProblemCode } from '../../../src/protocol/problem.ts'

/** Addresses of every page on the API's stage, with and without a query. */
export const ADDRESSES: readonly string[] = [
  ...ENDPOINTS.filter(({ page, path }) => page && pathParts(path).length === 0).map(({ path }) =>
    path.replace('/api/v1', ''),
  ),
  '/',
  '/summary?at=2026-10-01T00:05Z',
  '/summary?at=2026-09-01',
  '/contests?status=running',
  '/contests?q=first&sort=closesAt',
  '/contests?q=absent&status=closed',
  '/contests?sort=pool',
  '/contests?after=2&limit=1',
  '/contests/1/ledger',
  '/contests/2/ledger',
  '/waits?to=2026-10-01T00:05Z',
  '/payouts?contestId=1',
  '/payouts?contestId=2',
  '/payouts?contestId=1,2',
  '/payouts?kind=winner,voter_share',
  '/flows?from=2026-10-01&to=2026-10-02&bucket=hour',
  '/flows?bucket=month',
  '/flows?from=2026-10-01&to=2026-10-02&bucket=hour&by=kind',
  '/funds?bucket=month',
  '/flows?from=2026-10-01&to=2026-10-01T00:05Z&bucket=minute',
  '/funds?from=2026-10-01&to=2026-10-02&bucket=hour',
  '/patterns?from=2026-10-01&to=2026-10-02&tz=345',
  '/patterns?from=2026-09-01&to=2026-09-02&tz=-570',
  '/about',
  '/api',
  '/errors',
  '/find',
  '/find?q=1',
  '/find?q=nowhere',
  '/find?q=nobody-paid',
  '/events?type=payout',
  '/events?type=expiry&nonzero=1',
  '/events?after=2&limit=3',
  '/events?order=desc&before=9&limit=3',
  '/events?tx=transaction-0001',
  '/events?tx=nobody-paid',
  '/stream',
  '/stream?type=hold',
  '/events/1',
  '/events/8',
  '/events/10',
  '/verify',
  '/verify?seq=1',
]

/** The first addresses of each page, for tests that need half a second for each. */
export function firstOfEachPage(addresses: readonly string[], count: number): readonly string[] {
  const byPage = Map.groupBy(addresses, (address) => address.split('?')[0])
  return [...byPage.values()].flatMap((ofPage) => ofPage.slice(0, count))
}

/** Refused addresses with their status and problem code. */
export const REFUSED: readonly (readonly [path: string, status: number, code: ProblemCode])[] = [
  ['/events/999', 404, 'event-not-found'],
  ['/events/first', 404, 'event-not-found'],
  ['/flows?bucket=year', 400, 'invalid-parameter'],
  ['/flows?unknown=1', 400, 'unknown-parameter'],
  ['/flows?from=2020-01-01&to=2026-10-01&bucket=minute', 400, 'too-many-buckets'],
  ['/nothing', 404, 'not-found'],
  ['/compare', 404, 'not-found'],
  ['/embed/flows', 404, 'not-found'],
  ['/tx/nobody-paid', 404, 'not-found'],
  ['/tx/short', 400, 'invalid-parameter'],
  ['/summary?at=2099-01-01', 400, 'in-the-future'],
  ['/contests?status=open', 400, 'invalid-parameter'],
  ['/payouts?contestId=first', 400, 'invalid-parameter'],
  ['/contests/99/ledger', 404, 'contest-not-found'],
]
