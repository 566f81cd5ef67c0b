import type { ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'
import type { MonthFile, MonthState } from '../../log/store/reader.ts'
import { type Month, parseMonth } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { problemReply, type Reply } from '../http/route.ts'

/** Parsed name of a file below `/archive/`. */
type ArchiveName =
  | Readonly<{ is: 'file'; month: Month; file: MonthFile }>
  | Readonly<{ is: 'parquet'; month: Month }>
  | Readonly<{ is: 'manifest'; month: Month }>
  | Readonly<{ is: 'sums' }>

const ENDINGS = {
  events: '.jsonl.gz',
  details: '.details.jsonl.gz',
  parquet: '.parquet',
} as const satisfies Record<MonthFile | 'parquet', string>
const NAME = /^(\d{4}-\d{2})(\.jsonl\.gz|\.details\.jsonl\.gz|\.parquet|\.json)$/

/** Name of a month file, such as `2026-10.jsonl.gz`. */
export function formatFileName(month: string, file: MonthFile | 'parquet'): string {
  return `${month}${ENDINGS[file]}`
}

/** Parses a name; undefined when no file can have it. */
export function parseArchiveName(name: string): ArchiveName | undefined {
  if (name === 'SHA256SUMS') return { is: 'sums' }
  const match = NAME.exec(name)
  const month = parseMonth(match?.[1] ?? '')
  if (month === undefined) return undefined
  if (match?.[2] === ENDINGS.events) return { is: 'file', month, file: 'events' }
  if (match?.[2] === ENDINGS.details) return { is: 'file', month, file: 'details' }
  return match?.[2] === ENDINGS.parquet ? { is: 'parquet', month } : { is: 'manifest', month }
}

const PARQUET = /\.(?:parquet|pq)\b/i
const NEARLY_MONTH = /^(\d{4})-?(\d{1,2})(?:\.|$)/

/** File that a name probably means: `2026-07.jsonl.gz` for `2026-7.jsonl.gz` or `2026-07.csv`. */
export function fileMeant(name: string): string | undefined {
  const [, year = '', part = ''] = NEARLY_MONTH.exec(name) ?? []
  const month = year === '' ? undefined : parseMonth(`${year}-${part.padStart(2, '0')}`)
  if (month === undefined) return undefined
  if (name.endsWith('.json')) return `${month}.json`
  if (PARQUET.test(name)) return formatFileName(month, 'parquet')
  return formatFileName(month, name.includes('.details') ? 'details' : 'events')
}

/** Parses a manifest of the store. */
export function parseManifest(json: string): ArchiveManifest {
  const manifest: ArchiveManifest = JSON.parse(json)
  return manifest
}

/** Reply for a name below `/archive/` without a file. Suggests the file that it probably means. */
export function monthNotFound(months: readonly MonthState[], name = ''): Reply {
  const meant = fileMeant(name)
  const isThere = months.some(({ month, manifest }) => {
    const endings = manifest === null ? [] : [`${month}.json`, formatFileName(month, 'parquet')]
    return [formatFileName(month, 'events'), formatFileName(month, 'details'), ...endings].includes(
      meant ?? '',
    )
  })
  const question = isThere ? ` Did you mean ${meant}?` : ''
  return problemReply({
    code: 'month-not-found',
    detail: `${rangeOf(months)} See ${ENDPOINT_PATHS.archive}.${question}`,
  })
}

function rangeOf(months: readonly MonthState[]): string {
  const [first, last] = [months[0]?.month, months.at(-1)?.month]
  if (first === undefined) return 'The archive has no month yet.'
  return first === last ? `The archive has ${first}.` : `The archive has ${first} to ${last}.`
}
