import type { ArchiveIndex, ArchiveMonth } from '../../protocol/endpoints/file-endpoints.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { LogReader, MonthFile, MonthState } from '../../log/store/reader.ts'
import type { Month } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS, FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import { BEFORE_FIRST } from '../../protocol/seq.ts'
import type { PresentEtag } from '../http/etag.ts'
import {
  type EndpointAnswers,
  endpointPlace,
  endpointRoutes,
  problemReply,
  type Reply,
  type Route,
  type RouteRequest,
} from '../http/route.ts'
import { JSON_TYPE } from '../http/headers.ts'
import { formatFileName, monthNotFound, parseArchiveName, parseManifest } from './file-name.ts'
import { openMonthFiles } from './month-file.ts'
import { openParquetReplies, type ParquetFiles } from './parquet-reply.ts'
import { revalidated, treeReplies } from './tree-routes.ts'

/** Link to the description of every file and column. */
const DESCRIBED_BY = `<${FRICTIONLESS_PATH}>; rel="describedby"; type="application/json"`

const SUMS_TYPE = 'text/plain; charset=utf-8'

/** Routes of the archive: index, month files, manifests, `SHA256SUMS`, and the tree files. */
export function archiveRoutes(
  log: LogReader,
  presentEtag: PresentEtag,
  parquetFiles: ParquetFiles,
): readonly Route[] {
  const monthFiles = openMonthFiles(log, presentEtag)
  const parquet = openParquetReplies(log, parquetFiles)
  const replies: EndpointAnswers<Exclude<FileEndpoint, 'archiveFile'>> = {
    archive: (ask) => indexReply(log, presentEtag, ask),
    ...treeReplies(log),
  }
  return [
    ...endpointRoutes(replies),
    {
      ...endpointPlace('archiveFile'),
      streaming: true,
      handle(ask) {
        const text = ask.segments['file'] ?? ''
        const name = parseArchiveName(text)
        switch (name?.is) {
          case undefined:
            return log.snapshot((snapshot) => monthNotFound(snapshot.months(), text))
          case 'sums':
            return sumsReply(log, presentEtag, ask)
          case 'manifest':
            return manifestReply(log, name.month)
          case 'file':
            return monthFiles(ask, name.month, name.file)
          case 'parquet':
            return parquet(ask, name.month)
        }
      },
    },
  ]
}

function indexReply(log: LogReader, presentEtag: PresentEtag, ask: RouteRequest): Reply {
  return log.snapshot((snapshot): Reply => {
    const { seq } = snapshot.head
    const caching = revalidated(seq, presentEtag(seq), { Link: DESCRIBED_BY })
    if (ask.holds(caching.etag)) return { is: 'unchanged', ...caching }
    const body = JSON.stringify(archiveIndex(snapshot.months()))
    return { is: 'body', type: JSON_TYPE, body, ...caching }
  })
}

function sumsReply(log: LogReader, presentEtag: PresentEtag, ask: RouteRequest): Reply {
  return log.snapshot((snapshot): Reply => {
    const months = snapshot.months()
    // The sums change only when a month closes. The first event of the next month closes it.
    const changedBy = months.at(-1)?.firstSeq ?? BEFORE_FIRST
    const caching = revalidated(snapshot.head.seq, presentEtag(changedBy))
    if (ask.holds(caching.etag)) return { is: 'unchanged', ...caching }
    return { is: 'body', type: SUMS_TYPE, body: sha256Sums(months), ...caching }
  })
}

/** Sends the manifest's bytes as stored by the commit that closed the month. */
function manifestReply(log: LogReader, month: Month): Reply {
  const { manifest, months } = log.snapshot((snapshot) => {
    return { manifest: snapshot.month(month)?.manifest, months: snapshot.months() }
  })
  if (manifest === undefined) return monthNotFound(months)
  if (manifest === null) {
    const detail = 'The month is open: its manifest is made when an event of a later month is published.'
    return problemReply({ code: 'month-not-found', detail })
  }
  return { is: 'body', keep: 'immutable', etag: 'of-content', type: JSON_TYPE, body: manifest }
}

/** All months with their sizes and digests. The open month has null for both. */
function archiveIndex(months: readonly MonthState[]): ArchiveIndex {
  return { months: months.map(archiveMonth) }
}

function archiveMonth({ month, manifest: json, events, firstSeq, lastSeq }: MonthState): ArchiveMonth {
  const manifest = json === null ? null : parseManifest(json)
  return {
    month,
    state: manifest === null ? 'open' : 'closed',
    url: urlOf(month, 'events'),
    detailsUrl: urlOf(month, 'details'),
    parquetUrl: manifest === null ? null : urlOf(month, 'parquet'),
    bytes: manifest === null ? null : manifest.gzip.bytes,
    events,
    firstSeq,
    lastSeq,
    sha256: manifest === null ? null : manifest.gzip.sha256,
    linesSha256: manifest === null ? null : manifest.lines.sha256,
  }
}

/** Digests of all files of closed months in the format of `sha256sum -c`. */
function sha256Sums(months: readonly MonthState[]): string {
  return months
    .filter((state) => state.manifest !== null)
    .map(({ month, manifest: json }) => {
      const { gzip, details } = parseManifest(json ?? '')
      return `${gzip.sha256}  ${formatFileName(month, 'events')}\n${details.sha256}  ${formatFileName(month, 'details')}\n`
    })
    .join('')
}

function urlOf(month: string, file: MonthFile | 'parquet'): string {
  return `${ENDPOINT_PATHS.archive}/${formatFileName(month, file)}`
}
