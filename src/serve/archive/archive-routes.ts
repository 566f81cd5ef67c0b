import type { LogReader } from '../../log/store/reader.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoint-rows.ts'
import type { Month } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import { BEFORE_FIRST } from '../../protocol/seq.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'
import { endpointPlace, endpointRoutes } from '../http/endpoint-route.ts'
import type { PresentEtag } from '../http/etag.ts'
import type { RouteRequest, Reply, Route } from '../http/route.ts'
import { problemReply } from '../http/route.ts'
import { JSON_TYPE } from '../http/projection.ts'
import { parseArchiveName } from './file-name.ts'
import { openMonthFiles } from './month-file.ts'
import { archiveIndex, monthNotFound, sha256Sums } from './month-list.ts'
import { treeReplies } from './tree-routes.ts'

const SUMS_TYPE = 'text/plain; charset=utf-8'

/** The routes of the archive: its index, the months' files and manifests, `SHA256SUMS`, and the log's own files. */
export function archiveRoutes(log: LogReader, presentEtag: PresentEtag): readonly Route[] {
  const monthFiles = openMonthFiles(log, presentEtag)
  const replies: EndpointReplies<Exclude<FileEndpoint, 'archiveFile'>> = {
    archive: (ask) => indexReply(log, presentEtag, ask),
    ...treeReplies(log),
  }
  return [
    ...endpointRoutes(replies),
    {
      ...endpointPlace('archiveFile'),
      streaming: true,
      handle(ask) {
        const name = parseArchiveName(ask.segments['file'] ?? '')
        switch (name?.is) {
          case undefined:
            return monthNotFound()
          case 'sums':
            return sumsReply(log, presentEtag, ask)
          case 'manifest':
            return manifestReply(log, name.month)
          case 'file':
            return monthFiles(ask, name.month, name.file)
        }
      },
    },
  ]
}

function indexReply(log: LogReader, presentEtag: PresentEtag, ask: RouteRequest): Reply {
  return log.snapshot((snapshot): Reply => {
    const kept = present(snapshot.head.seq, presentEtag)
    if (ask.holds(kept.etag)) return { is: 'unchanged', ...kept }
    const body = JSON.stringify(archiveIndex(snapshot.months()))
    return { is: 'body', type: JSON_TYPE, body, ...kept }
  })
}

function sumsReply(log: LogReader, presentEtag: PresentEtag, ask: RouteRequest): Reply {
  return log.snapshot((snapshot): Reply => {
    const months = snapshot.months()
    // Sums come when a month closes, with the first event of the open one.
    const kept = present(snapshot.head.seq, presentEtag, months.at(-1)?.firstSeq ?? BEFORE_FIRST)
    if (ask.holds(kept.etag)) return { is: 'unchanged', ...kept }
    return { is: 'body', type: SUMS_TYPE, body: sha256Sums(months), ...kept }
  })
}

/** The manifest's bytes are those that were recorded: nothing is written a second time. */
function manifestReply(log: LogReader, month: Month): Reply {
  const manifest = log.snapshot((snapshot) => snapshot.month(month))?.manifest
  if (manifest === undefined) return monthNotFound()
  if (manifest === null) {
    const detail = 'The month is open: its manifest is made when an event of a later month is published.'
    return problemReply({ code: 'month-not-found', detail })
  }
  return { is: 'body', keep: 'immutable', etag: 'of-content', type: JSON_TYPE, body: manifest }
}

/** How an answer as of a head may be kept, and the head it was made at. */
function present(
  head: Seq,
  presentEtag: PresentEtag,
  changedBy = head,
): Readonly<{ keep: 'revalidate'; etag: string; headers: Readonly<Record<string, string>> }> {
  return { keep: 'revalidate', etag: presentEtag(changedBy), headers: { 'Daybook-Seq': String(head) } }
}
