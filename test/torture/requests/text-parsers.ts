import {
  formatAmount,
  formatPrice,
  parseAmount,
  parseDraftAmount,
  parseDraftPrice,
  parsePrice,
} from '../../../src/protocol/amount.ts'
import { ENDPOINTS } from '../../../src/protocol/endpoints/endpoints.ts'
import { formatAt, parseAt, parseMonth } from '../../../src/protocol/moment.ts'
import { parseQueryTime } from '../../../src/protocol/query-time.ts'
import { parseContestId, parseSeq, parseWhole } from '../../../src/protocol/seq.ts'
import { parseTraceparent } from '../../../src/protocol/traceparent.ts'
import { callerOf, parseNetworks } from '../../../src/serve/allowance/caller.ts'
import { parseByteRange } from '../../../src/serve/archive/byte-range.ts'
import { parseArchiveName } from '../../../src/serve/archive/file-name.ts'
import { negotiate } from '../../../src/serve/http/coding.ts'
import { names } from '../../../src/serve/http/etag.ts'
import { parseQuery } from '../../../src/serve/query/query.ts'
import { framingOf } from '../../../src/serve/stream/subscription.ts'
import { formatBundlePath, formatTilePath, parseBundlePath, parseTilePath } from '../../../src/tlog/tile.ts'
import {
  ACCEPTED,
  type AttackedParser,
  ofValue,
  ofVerdict,
  type Outcome,
  REFUSED,
} from './attacked-parser.ts'

/** Header values are bytes that Node reads as Latin-1. */
const latin = (read: (text: string) => Outcome) => (bytes: Buffer) => read(bytes.toString('latin1'))
const text = (read: (text: string) => Outcome) => (bytes: Buffer) => read(bytes.toString('utf8'))
/** A text that is not UTF-8 is another one after decoding, so its form is not compared. */
const exact = <Value>(read: (text: string) => Value | undefined, format: (value: Value) => string) =>
  latin((given) => ofValue(read(given), format))

const PROXIES = parseNetworks('10.0.0.0/8,fd00::/8')

/** Parsers of single values: in queries, headers, paths and JSON. */
export const TEXT_PARSERS: readonly AttackedParser[] = [
  { name: 'a cursor', valid: ['0', '17', '9007199254740991'], read: exact(parseSeq, String) },
  { name: 'a whole number', valid: ['0', '17', '9007199254740991'], read: exact(parseWhole, String) },
  { name: 'a contest', valid: ['1', '4096'], read: exact(parseContestId, String) },
  { name: 'an amount', valid: ['0.000000000', '-12.500000000'], read: exact(parseAmount, formatAmount) },
  {
    name: 'an amount of a draft',
    valid: ['0', '-12.5'],
    read: text((given) => ofValue(parseDraftAmount(given))),
  },
  { name: 'a price', valid: ['0.000000000001'], read: exact(parsePrice, formatPrice) },
  { name: 'a price of a draft', valid: ['0.5'], read: text((given) => ofValue(parseDraftPrice(given))) },
  {
    name: 'a moment',
    valid: ['2026-10-01T12:00:00.000Z', '2026-10-01T12:00:00.999Z'],
    // Shorter forms are accepted too. The longest is the one that is written.
    read: latin((given) => {
      const ms = parseAt(given)
      return ms !== undefined && given.length === 24 ? ofValue(formatAt(ms), (again) => again) : ofValue(ms)
    }),
  },
  { name: 'a month', valid: ['2026-10', '9999-12'], read: exact(parseMonth, String) },
  {
    name: 'a time in a query',
    valid: ['2026-10', '2026-10-01T12:00Z', '2026-10-01 12:00:00,5+02:00', '1790812800000'],
    read: text((given) => ('ms' in parseQueryTime(given) ? ACCEPTED : REFUSED)),
  },
  {
    name: 'a tile',
    valid: ['tile/0/x001/x234/067.p/5', 'tile/1/000'],
    read: exact(parseTilePath, formatTilePath),
  },
  {
    name: 'a bundle',
    valid: ['tile/entries/x001/067', 'tile/entries/000.p/9'],
    read: exact(parseBundlePath, formatBundlePath),
  },
  {
    name: 'a name of a month file',
    valid: ['2026-10.jsonl.gz', '2026-10.json', 'SHA256SUMS'],
    read: text((given) => ofValue(parseArchiveName(given))),
  },
  {
    name: 'Range',
    valid: ['bytes=0-99', 'bytes=-5', 'bytes=7-'],
    read: latin((given) => ofValue(parseByteRange(given, 100))),
  },
  {
    name: 'Accept-Encoding',
    valid: ['gzip;q=0.5, br, zstd;q=1.0, *;q=0'],
    read: latin((given) => ofValue(negotiate(given))),
  },
  {
    name: 'If-None-Match',
    valid: ['"a", W/"b"', '*'],
    read: latin((given) => (names(given, '"a"') ? ACCEPTED : REFUSED)),
  },
  {
    name: 'Accept',
    valid: ['text/event-stream;q=0.5, application/x-ndjson', '*/*'],
    read: latin((given) => (framingOf(given) === 'ndjson' ? ACCEPTED : REFUSED)),
  },
  {
    name: 'traceparent',
    valid: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    read: latin((given) => ofValue(parseTraceparent(given))),
  },
  {
    name: 'X-Forwarded-For',
    valid: ['203.0.113.9, 10.1.1.1', '[2001:db8::1%eth0]:4711, 10.1.1.1'],
    read: latin((given) => {
      const from = { headers: { 'x-forwarded-for': given }, socket: { remoteAddress: '10.0.0.1' } }
      return ofValue(callerOf(from, PROXIES.ok ? PROXIES.value : []))
    }),
  },
  ...ENDPOINTS.filter(({ parameters }) => parameters.length > 0).map(
    ({ path, parameters }): AttackedParser => ({
      name: `the query of ${path}`,
      valid: [
        '',
        parameters.map(({ name }) => `${name}=1`).join('&'),
        ...parameters.map(({ name }) => `${name}=2026-10-01T12%3A00%3A00Z`),
        'from=2026-10&to=2026-11&limit=5&after=7&type=payout,play&order=desc',
      ],
      read: latin((given) => {
        const query = parseQuery(given, parameters)
        if (!query.ok) return REFUSED
        // A query has several forms. What is written again means the same.
        const written = query.value.format().replace(/^\?/, '')
        const again = parseQuery(written, parameters)
        return again.ok && again.value.format() === query.value.format()
          ? ACCEPTED
          : { is: 'accepted', again: written }
      }),
    }),
  ),
  {
    name: 'trusted proxies',
    valid: ['10.0.0.0/8, fd00::/8', '::ffff:10.0.0.0/104'],
    read: text((given) => ofVerdict(parseNetworks(given))),
  },
]
