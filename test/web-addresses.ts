/** An address of every page on the API's stage, with and without a question: the walks of parity and sight take all. */
export const ADDRESSES: readonly string[] = [
  '/',
  '/summary',
  '/summary?at=2026-10-01T00:05Z',
  '/summary?at=2026-09-01',
  '/contests',
  '/contests?status=running',
  '/contests?after=2&limit=1',
  '/contests/1/ledger',
  '/contests/2/ledger',
  '/flows',
  '/flows?from=2026-10-01&to=2026-10-02&bucket=hour',
  '/flows?from=2026-10-01&to=2026-10-01T00:05Z&bucket=minute',
  '/events/1',
  '/events/8',
  '/events/10',
]

/** Addresses that are refused, with the status: their pages are seen too. */
export const REFUSED: readonly (readonly [path: string, status: number])[] = [
  ['/events/999', 404],
  ['/events/first', 404],
  ['/flows?bucket=year', 400],
  ['/flows?unknown=1', 400],
  ['/flows?from=2020-01-01&to=2026-10-01&bucket=minute', 400],
  ['/nothing', 404],
  ['/summary?at=2099-01-01', 400],
  ['/contests?status=open', 400],
  ['/contests/99/ledger', 404],
]
