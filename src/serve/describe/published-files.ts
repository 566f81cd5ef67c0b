import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import type { MonthState } from '../../log/store/reader.ts'
import { keysOf } from '../../protocol/brand.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { formatFileName, parseManifest } from '../archive/file-name.ts'
import { type Column, DETAILS_COLUMNS, EVENT_COLUMNS, TABLE_COLUMNS } from './dataset-columns.ts'

/** A file of the site for analysts: a file of the archive, or a CSV of the API. */
export type PublishedFile = Readonly<{
  /** Unique name, in lower case. */
  name: string
  title: string
  meaning: string
  url: string
  form: 'csv' | 'jsonl.gz' | 'json' | 'sha256sums'
  /** Columns of a table; empty for a file that is no table. */
  columns: readonly Column[]
  /** Column whose values are unique; null without one. */
  key: string | null
  /** Size and digest of a file that never changes; null for any other. */
  digest: Digest | null
}>

/** All files of a site: those of the log by month, then each table. `base` is the URL of the site. */
export function publishedFiles(base: string, months: readonly MonthState[]): readonly PublishedFile[] {
  return [...months.flatMap((month) => monthFiles(base, month)), sumsFile(base), ...tableFiles(base)]
}

function monthFiles(base: string, { month, manifest: json }: MonthState): readonly PublishedFile[] {
  const manifest = json === null ? null : parseManifest(json)
  const state = manifest === null ? 'It grows until an event of a later month closes it' : 'It never changes'
  const urlOf = (name: string): string => `${base}${ENDPOINT_PATHS.archive}/${name}`
  const files: readonly PublishedFile[] = [
    {
      name: `events-${month}`,
      title: `Events of ${month}`,
      meaning: `Every event of the month, one a line. ${state}`,
      url: urlOf(formatFileName(month, 'events')),
      form: 'jsonl.gz',
      columns: EVENT_COLUMNS,
      key: 'seq',
      digest: manifest?.gzip ?? null,
    },
    {
      name: `details-${month}`,
      title: `Details of ${month}`,
      meaning: `What events of the month say beyond their eight keys, one event a line. ${state}`,
      url: urlOf(formatFileName(month, 'details')),
      form: 'jsonl.gz',
      columns: DETAILS_COLUMNS,
      key: 'seq',
      digest: manifest?.details ?? null,
    },
  ]
  if (manifest === null) return files
  const signed: PublishedFile = {
    name: `manifest-${month}`,
    title: `Manifest of ${month}`,
    meaning: 'Sizes and digests of the files of the month, with the signed root of the log at its end',
    url: urlOf(`${month}.json`),
    form: 'json',
    columns: [],
    key: null,
    digest: null,
  }
  return [...files, signed]
}

function sumsFile(base: string): PublishedFile {
  return {
    name: 'sha256sums',
    title: 'SHA256SUMS',
    meaning: 'SHA-256 of every file of closed months, for `sha256sum --check`',
    url: `${base}${ENDPOINT_PATHS.archive}/SHA256SUMS`,
    form: 'sha256sums',
    columns: [],
    key: null,
    digest: null,
  }
}

/** A contest's own CSV is left out, because it is one of many. `events` has its rows too. */
const TABLES = {
  contests: { title: 'Contests', key: 'id', rows: 'The first 10,000; the header Link has the next' },
  payouts: { title: 'Unpaid prizes', key: null, rows: 'The first 10,000; the header Link has the next' },
  flows: { title: 'Flows', key: 'at', rows: 'The last 90 days; from, to and bucket choose others' },
  funds: { title: 'Funds', key: 'at', rows: 'The last 90 days; from, to and bucket choose others' },
  patterns: { title: 'Patterns', key: null, rows: 'The last 28 days in UTC; from, to and tz choose others' },
  loyaltyRuns: { title: 'Loyalty runs', key: 'month', rows: 'Every month' },
} as const

function tableFiles(base: string): readonly PublishedFile[] {
  const events: PublishedFile = {
    name: 'events',
    title: 'Events',
    meaning: `${endpointOf('events').meaning}. Every event up to the newest; type, kind, contestId, from and to choose some`,
    url: `${base}${ENDPOINT_PATHS.events}?format=csv`,
    form: 'csv',
    columns: EVENT_COLUMNS,
    key: 'seq',
    digest: null,
  }
  const lists = keysOf(TABLES).map((id): PublishedFile => {
    const { title, key, rows } = TABLES[id]
    return {
      name: endpointOf(id).path.replace('/api/v1/', '').replace('/', '-'),
      title,
      meaning: `${endpointOf(id).meaning}. ${rows}`,
      url: `${base}${ENDPOINT_PATHS[id]}?format=csv`,
      form: 'csv',
      columns: TABLE_COLUMNS[id],
      key,
      digest: null,
    }
  })
  return [events, ...lists]
}
