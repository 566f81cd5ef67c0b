import type { ListedMutant } from './listed-mutant.ts'

const HTTP = 'src/serve/http'
const QUERY = 'src/serve/query'

/** Bugs of answers to requests. */
export const REQUEST_MUTANTS: readonly ListedMutant[] = [
  {
    id: 'query-unknown-ignored',
    file: `${QUERY}/query.ts`,
    from: ': unknown(name, table)',
    to: ': undefined',
    promise: 'An unknown parameter is refused',
    tests: [`${QUERY}/query.test.ts`],
  },
  {
    id: 'query-repeated-last-wins',
    file: `${QUERY}/query.ts`,
    from: 'if (values.has(parameter.name)) {',
    to: "if (values.has(parameter.name) && values.get(parameter.name)?.text === '') {",
    promise: 'A repeated parameter is refused',
    tests: [`${QUERY}/query.test.ts`],
  },
  {
    id: 'query-error-echoes-name',
    file: `${QUERY}/query.ts`,
    from: '? forbidden(null)',
    to: '? forbidden(name ?? null)',
    promise: 'A refusal repeats nothing of an address',
    tests: [`${QUERY}/query.test.ts`],
  },
  {
    id: 'csv-unquoted',
    file: `${HTTP}/csv.ts`,
    from: '/[",\\r\\n]/.test(safe)',
    to: '/["\\r\\n]/.test(safe)',
    promise: 'CSV quotes a cell with a comma (RFC 4180)',
    tests: ['src/serve/api/csv-table.test.ts'],
  },
  {
    id: 'csv-formula',
    file: `${HTTP}/csv.ts`,
    from: 'const safe = escapeFormula(String(cell))',
    to: 'const safe = String(cell)',
    promise: 'No cell of CSV is a formula',
    tests: ['src/serve/api/csv-table.test.ts'],
  },
  {
    id: 'problem-without-cors',
    file: `${HTTP}/respond.ts`,
    from: 'const headers = headerList([...terms.common, ...terms.allowance], {\n    ...reply.headers,',
    to: 'const headers = headerList([...terms.allowance], {\n    ...reply.headers,',
    promise: 'Errors have the headers of CORS too',
    tests: [`${HTTP}/respond.test.ts`, 'src/serve/server.test.ts'],
  },
  {
    id: 'problem-cached',
    file: `${HTTP}/respond.ts`,
    from: "'Cache-Control': CACHE_CONTROL['no-store'],\n    'Content-Type': 'application/problem+json',",
    to: "'Cache-Control': CACHE_CONTROL['revalidate'],\n    'Content-Type': 'application/problem+json',",
    promise: 'A 404 is kept by no cache: the event may exist a second later',
    tests: [`${HTTP}/respond.test.ts`, 'src/serve/server.test.ts'],
  },
  {
    id: 'etag-strong-for-compressed',
    file: `${HTTP}/respond.ts`,
    from: "const exact = reply.etag === 'of-content' ? coding === undefined : !compressible",
    to: 'const exact = true',
    promise: 'A strong ETag promises the same bytes',
    tests: [`${HTTP}/respond.test.ts`],
  },
  {
    id: 'archive-content-encoding',
    file: 'src/serve/archive/month-file.ts',
    from: "'Daybook-Archive-State': 'closed',",
    to: "'Daybook-Archive-State': 'closed', 'Content-Encoding': 'gzip',",
    promise: 'A month file is sent as the bytes that its digest is of',
    tests: ['src/serve/archive/month-file.test.ts'],
  },
  {
    id: 'range-one-byte-short',
    file: 'src/serve/archive/byte-range.ts',
    from: 'Math.min(size, Number(last) + 1)',
    to: 'Math.min(size, Number(last))',
    promise: 'A range ends with its last byte',
    tests: ['src/serve/archive/byte-range.test.ts'],
  },
]
