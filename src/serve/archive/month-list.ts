import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { MonthFile, MonthState } from '../../log/store/reader.ts'
import type { ArchiveIndex, ArchiveManifest, ArchiveMonth } from '../../protocol/endpoints/file-endpoints.ts'
import { problemReply, type Reply } from '../http/route.ts'
import { fileMeant, formatFileName } from './file-name.ts'

/** Parses a manifest of the store. */
export function parseManifest(json: string): ArchiveManifest {
  const manifest: ArchiveManifest = JSON.parse(json)
  return manifest
}

/** All months with their sizes and digests. The open month has null for both. */
export function archiveIndex(months: readonly MonthState[]): ArchiveIndex {
  return { months: months.map(archiveMonth) }
}

function archiveMonth({ month, manifest: json, events, firstSeq, lastSeq }: MonthState): ArchiveMonth {
  const manifest = json === null ? null : parseManifest(json)
  return {
    month,
    state: manifest === null ? 'open' : 'closed',
    url: urlOf(month, 'events'),
    detailsUrl: urlOf(month, 'details'),
    bytes: manifest === null ? null : manifest.gzip.bytes,
    events,
    firstSeq,
    lastSeq,
    sha256: manifest === null ? null : manifest.gzip.sha256,
    linesSha256: manifest === null ? null : manifest.lines.sha256,
  }
}

/** Digests of all files of closed months in the format of `sha256sum -c`. */
export function sha256Sums(months: readonly MonthState[]): string {
  return months
    .filter((state) => state.manifest !== null)
    .map(({ month, manifest: json }) => {
      const { gzip, details } = parseManifest(json ?? '')
      return `${gzip.sha256}  ${formatFileName(month, 'events')}\n${details.sha256}  ${formatFileName(month, 'details')}\n`
    })
    .join('')
}

/** Reply for a name below `/archive/` that is no file, with the file that it probably means if there is one. */
export function monthNotFound(months: readonly MonthState[], name = ''): Reply {
  const meant = fileMeant(name)
  const isThere = months.some(({ month, manifest }) => {
    const endings = manifest === null ? [] : [`${month}.json`]
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

function urlOf(month: string, file: MonthFile): string {
  return `${ENDPOINT_PATHS.archive}/${formatFileName(month, file)}`
}
