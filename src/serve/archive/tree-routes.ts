import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoint-rows.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { LogKeys } from '../../protocol/resources.ts'
import { parseSeq } from '../../protocol/seq.ts'
import { assert } from '../../protocol/brand.ts'
import { etagOf } from '../http/etag.ts'
import { JSON_TYPE } from '../http/projection.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'
import type { RouteRequest, Reply } from '../http/route.ts'
import { problemReply } from '../http/route.ts'

const NOTE_TYPE = 'text/plain; charset=utf-8'
const HASHES_TYPE = 'application/octet-stream'
const NO_TILE: Problem = { code: 'not-found', detail: 'The tree has no such tile, or not yet.' }
const NO_EVENT = 'No event has this seq, or not yet.'

type LogFileEndpoint = Exclude<FileEndpoint, 'archive' | 'archiveFile'>

/** Replies with the log's own files (C2SP tlog-tiles): checkpoint, tiles, entry bundles, keys and receipts. */
export function treeReplies(log: LogReader): EndpointReplies<LogFileEndpoint> {
  return {
    logCheckpoint: () => checkpointReply(log),
    logTile: ({ segments }) => {
      const path = `tile/${segments['level']}/${segments['tile']}`
      return tileReply(
        log.snapshot(({ tree }) => tree.tile(path)),
        false,
      )
    },
    logEntries: ({ segments }) => {
      const path = `tile/entries/${segments['tile']}`
      return tileReply(
        log.snapshot(({ tree }) => tree.entries(path)),
        true,
      )
    },
    logKeys: () => keysReply(log),
    logProof: (ask) => proofReply(log, ask),
  }
}

/** Signatures may change while the head stays, as at a change of keys: the ETag is of the content. */
function checkpointReply(log: LogReader): Reply {
  return log.snapshot((snapshot): Reply => {
    const body = snapshot.tree.checkpoint()
    return { is: 'body', ...present(snapshot, 'of-content'), type: NOTE_TYPE, body, compress: false }
  })
}

/** A tile never changes. Its hashes are random bytes, which no coding makes shorter; entries are text. */
function tileReply(body: Uint8Array | undefined, compress: boolean): Reply {
  if (body === undefined) return problemReply(NO_TILE)
  return { is: 'body', keep: 'immutable', etag: 'of-content', type: HASHES_TYPE, body, compress }
}

function keysReply(log: LogReader): Reply {
  return log.snapshot((snapshot): Reply => {
    const { origin, id, former } = log.identity
    const keys: LogKeys = {
      origin,
      logId: id,
      keys: snapshot.keys().map(({ vkey, fromSize, toSize, statement }) => {
        return { vkey, state: toSize === null ? 'signing' : 'retired', fromSize, toSize, statement }
      }),
      formerLogs: former.map((log_) => ({ id: log_.id, origin: log_.origin, size: log_.size })),
    }
    const body = JSON.stringify(keys)
    return { is: 'body', ...present(snapshot, 'of-content'), type: JSON_TYPE, body }
  })
}

/** Of one event a receipt is another only when the checkpoint is: whoever holds it costs no proof. */
function proofReply(log: LogReader, ask: RouteRequest): Reply {
  const seq = parseSeq(ask.segments['seq'] ?? '')
  return log.snapshot((snapshot): Reply => {
    const head = snapshot.head.seq
    if (seq === undefined || seq < 1 || seq > head) {
      return problemReply({ code: 'event-not-found', detail: NO_EVENT, members: { head } })
    }
    const kept = present(snapshot, etagOf(snapshot.tree.checkpoint()), {
      'Content-Disposition': `attachment; filename="daybook-event-${seq}.tlog-proof"`,
    })
    if (ask.holds(kept.etag)) return { is: 'unchanged', compress: false, ...kept }
    const body = snapshot.tree.receipt(seq)
    assert(body !== undefined, `seq ${seq} is in the log`)
    return { is: 'body', ...kept, type: NOTE_TYPE, body, compress: false }
  })
}

/** How an answer as of a head may be kept, and the head it was made at. */
function present(
  { head }: Snapshot,
  etag: string,
  headers: Readonly<Record<string, string>> = {},
): Readonly<{ keep: 'revalidate'; etag: string; headers: Readonly<Record<string, string>> }> {
  return { keep: 'revalidate', etag, headers: { 'Daybook-Seq': String(head.seq), ...headers } }
}
