import type { LogIdentity, LogReader, MonthState } from '../../log/store/reader.ts'
import { ENDPOINT_PATHS, FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import { JSON_TYPE } from '../http/headers.ts'
import type { AnswerRoute } from '../http/route.ts'
import { NOTICE, SUBJECT } from './information.ts'
import {
  type Column,
  DETAILS_COLUMNS,
  EVENT_COLUMNS,
  PARQUET_FIELDS,
  TABLE_COLUMNS,
} from './dataset-columns.ts'
import { keysOf } from '../../protocol/brand.ts'
import { endpointOf, type TableEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { formatFileName, parseManifest } from '../archive/file-name.ts'

/** Route of the Data Package. It is made again only when a month begins, because a closed month never changes. */
export function frictionlessRoute(log: LogReader, publisher: Publisher): AnswerRoute {
  let made: Readonly<{ months: number; body: Uint8Array }> | undefined
  return {
    path: FRICTIONLESS_PATH,
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    handle() {
      const months = log.snapshot((snapshot) => snapshot.months())
      if (made?.months !== months.length) {
        const text = formatFrictionless(publisher, log.identity, publishedFiles(publisher.url, months))
        made = { months: months.length, body: Buffer.from(text) }
      }
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: JSON_TYPE, body: made.body }
    },
  }
}

/** Operator's settings that the Data Package names. */
type Publisher = Readonly<{
  /** Public base URL without a slash at its end. */
  url: string
  name: string
  /** Symbol of the token, the unit of every amount. */
  token: string
  /** URL of the licence of the published log; null if none. */
  licence: string | null
}>

const PROFILES = 'https://datapackage.org/profiles/2.0'

/** Describes files as a Data Package (Frictionless, version 2). */
function formatFrictionless(
  publisher: Publisher,
  log: Pick<LogIdentity, 'id' | 'origin' | 'simulated'>,
  files: readonly PublishedFile[],
): string {
  const { name, url, licence } = publisher
  return JSON.stringify({
    $schema: `${PROFILES}/datapackage.json`,
    name: 'daybook',
    id: `${url}${FRICTIONLESS_PATH}`,
    title: `${name}: every event and every figure`,
    description: descriptionOf(log.simulated),
    homepage: url,
    ...(licence === null ? {} : { licenses: [{ path: licence }] }),
    contributors: [{ title: name, path: url, roles: ['publisher'] }],
    keywords: ['contests', 'prizes', 'payments', 'events'],
    // Members of our own, which the profile allows.
    origin: log.origin,
    log: log.id,
    simulated: log.simulated,
    resources: files.map((file) => resourceOf(file, publisher.token)),
  })
}

/** Description of the whole, for people. */
function descriptionOf(simulated: boolean): string {
  const note = simulated ? ' This is a simulated platform: no event here is of real money.' : ''
  return (
    `${SUBJECT}. ${NOTICE}${note} Amounts are decimals with nine decimals and prices with twelve: read them as exact ` +
    'decimals, never as floating point. A correction is a further event with a negative amount.'
  )
}

/** Description of a file. `hash` and `bytes` are those of the file as served. */
function resourceOf(file: PublishedFile, token: string): unknown {
  const { name, title, meaning, url, columns, digest } = file
  return {
    name,
    ...(columns.length === 0 ? {} : { type: 'table' }),
    title,
    description: meaning,
    path: url,
    ...formatOf(file),
    encoding: 'utf-8',
    ...(digest === null ? {} : { bytes: digest.bytes, hash: `sha256:${digest.sha256}` }),
    ...(columns.length === 0 ? {} : { schema: schemaOf(file, token) }),
  }
}

function formatOf({ form }: PublishedFile): Readonly<Record<string, unknown>> {
  switch (form) {
    case 'csv':
      return {
        format: 'csv',
        mediatype: 'text/csv',
        dialect: {
          $schema: `${PROFILES}/tabledialect.json`,
          header: true,
          delimiter: ',',
          lineTerminator: '\r\n',
        },
      }
    case 'jsonl.gz':
      return {
        format: 'jsonl',
        mediatype: 'application/gzip',
        compression: 'gz',
        dialect: { $schema: `${PROFILES}/tabledialect.json`, itemType: 'object' },
      }
    case 'parquet':
      return { format: 'parquet', mediatype: 'application/vnd.apache.parquet' }
    case 'json':
      return { format: 'json', mediatype: 'application/json' }
    case 'sha256sums':
      return { format: 'txt', mediatype: 'text/plain' }
  }
}

function schemaOf({ columns, key }: PublishedFile, token: string): unknown {
  return {
    $schema: `${PROFILES}/tableschema.json`,
    missingValues: [''],
    ...(key === null ? {} : { primaryKey: [key] }),
    fields: columns.map((column) => fieldOf(column, token)),
  }
}

function fieldOf(column: Column, token: string): unknown {
  const { name, meaning, optional, values } = column
  const unit = unitFor(column, token)
  const constraints = {
    ...(optional ? {} : { required: true }),
    ...(values === null ? {} : { enum: values }),
  }
  return {
    name,
    ...typeOf(column),
    description: meaning,
    ...(unit === null ? {} : { unit }),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
  }
}

/** Unit of a column: the symbol of the token for amounts; null without a unit. */
function unitFor({ form, unit }: Column, token: string): string | null {
  if (form.is !== 'decimal') return unit
  return form.decimals === 9 ? token : `USD for 1 ${token}`
}

/** Type of a field. A decimal is exact: its lexical form has all decimals, in JSON lines as a string. */
function typeOf({ form }: Column): Readonly<Record<string, unknown>> {
  switch (form.is) {
    case 'decimal':
      return { type: 'number', decimalChar: '.', decimals: form.decimals }
    case 'moment':
      return { type: 'datetime' }
    case 'month':
      return { type: 'yearmonth' }
    case 'text':
      return { type: 'string' }
    case 'integer':
    case 'boolean':
    case 'object':
      return { type: form.is }
  }
}

/** File of the site for analysts: a file of the archive, or a CSV of the API. */
type PublishedFile = Readonly<{
  /** Unique name, in lower case. */
  name: string
  title: string
  meaning: string
  url: string
  form: 'csv' | 'jsonl.gz' | 'parquet' | 'json' | 'sha256sums'
  /** Columns of a table; empty for a file that is no table. */
  columns: readonly Column[]
  /** Column whose values are unique; null without one. */
  key: string | null
  /** Size and digest of a file that never changes; null for any other. */
  digest: Digest | null
}>

/** All files of a site: those of the log by month, then each table. `base` is the URL of the site. */
function publishedFiles(base: string, months: readonly MonthState[]): readonly PublishedFile[] {
  const sums: PublishedFile = {
    name: 'sha256sums',
    title: 'SHA256SUMS',
    meaning: 'SHA-256 of every file of closed months, for `sha256sum --check`',
    url: `${base}${ENDPOINT_PATHS.archive}/SHA256SUMS`,
    form: 'sha256sums',
    ...NO_TABLE,
  }
  return [...months.flatMap((month) => monthFiles(base, month)), sums, ...tableFiles(base)]
}

/** Terms of a file that is no table and may change. */
const NO_TABLE = { columns: [], key: null, digest: null } as const

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
  const parquet: PublishedFile = {
    name: `parquet-${month}`,
    title: `${month} as Parquet`,
    meaning:
      'Events and details of the month as one table, made from their lines. No signature names this file',
    url: urlOf(formatFileName(month, 'parquet')),
    form: 'parquet',
    columns: PARQUET_FIELDS,
    key: 'seq',
    digest: null,
  }
  const signed: PublishedFile = {
    name: `manifest-${month}`,
    title: `Manifest of ${month}`,
    meaning: 'Sizes and digests of the files of the month, with the signed root of the log at its end',
    url: urlOf(`${month}.json`),
    form: 'json',
    ...NO_TABLE,
  }
  return [...files, parquet, signed]
}

/** Tables of the Data Package. A contest's own CSV is left out: it is one of many, and `events` has its rows too. */
const TABLES = {
  contests: { title: 'Contests', key: 'id', rows: 'The first 10,000; the header Link has the next' },
  payouts: { title: 'Unpaid prizes', key: null, rows: 'The first 10,000; the header Link has the next' },
  waits: {
    title: 'Waits',
    key: 'kind',
    rows: 'Contests that closed in the last 90 days; from and to choose others',
  },
  flows: { title: 'Flows', key: 'at', rows: 'The last 90 days; from, to and bucket choose others' },
  funds: { title: 'Funds', key: 'at', rows: 'The last 90 days; from, to and bucket choose others' },
  patterns: { title: 'Patterns', key: null, rows: 'The last 28 days in UTC; from, to and tz choose others' },
  loyaltyRuns: { title: 'Loyalty runs', key: 'month', rows: 'Every month' },
} as const satisfies Readonly<
  Record<
    Exclude<TableEndpoint, 'contestLedger'>,
    Readonly<{ title: string; key: string | null; rows: string }>
  >
>

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
