import type { LogReader } from '../../log/store/reader.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { LogKeys } from '../../protocol/endpoints/file-endpoints.ts'
import type { Problem } from '../../protocol/problem.ts'
import { parseSeq } from '../../protocol/seq.ts'
import { assert } from '../../protocol/brand.ts'
import { etagOf } from '../http/etag.ts'
import { JSON_TYPE } from '../http/headers.ts'
import type { EndpointAnswers } from '../http/endpoint-route.ts'
import { noEvent } from '../http/no-event.ts'
import { problemReply, type Reply, type RouteRequest } from '../http/route.ts'
import { NOTE_TYPE, revalidated } from './revalidated.ts'
import { witnessedOf, witnessedReplies } from './witnessed-routes.ts'

const HASHES_TYPE = 'application/octet-stream'
const NO_TILE: Problem = { code: 'not-found', detail: 'The tree has no such tile, or not yet.' }

type LogFileEndpoint = Exclude<FileEndpoint, 'archive' | 'archiveFile'>

/** Replies of the tree files (C2SP tlog-tiles): checkpoint, tiles, entry bundles, keys and receipts. */
export function treeReplies(log: LogReader): EndpointAnswers<LogFileEndpoint> {
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
    ...witnessedReplies(log),
    logKeys: () => keysReply(log),
    logProof: (ask) => proofReply(log, ask),
  }
}

/** Its ETag is of the content, because a change of keys changes the signatures at the same head. */
function checkpointReply(log: LogReader): Reply {
  return log.snapshot((snapshot): Reply => {
    const body = snapshot.tree.checkpoint()
    return {
      is: 'body',
      ...revalidated(snapshot.head.seq, 'of-content'),
      type: NOTE_TYPE,
      body,
      compress: false,
    }
  })
}

/** Sends a tile, which never changes. Only entry bundles are compressed: hashes are random bytes. */
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
    return { is: 'body', ...revalidated(snapshot.head.seq, 'of-content'), type: JSON_TYPE, body }
  })
}

/** A receipt changes only with its checkpoint, so its ETag is the checkpoint's and a 304 computes no proof. */
function proofReply(log: LogReader, ask: RouteRequest): Reply {
  const seq = parseSeq(ask.segments['seq'] ?? '')
  return log.snapshot((snapshot): Reply => {
    const head = snapshot.head.seq
    if (seq === undefined || seq < 1 || seq > head) {
      return problemReply(noEvent(head, ask.segments['seq']))
    }
    const isWitnessed = ask.query.word('checkpoint') === 'witnessed'
    const witnessed = isWitnessed ? witnessedOf(snapshot, seq) : undefined
    if (witnessed !== undefined && 'code' in witnessed) return problemReply(witnessed)
    const note = witnessed?.note ?? snapshot.tree.checkpoint()
    const name = `daybook-event-${seq}${isWitnessed ? '-witnessed' : ''}.tlog-proof`
    const caching = revalidated(witnessed?.seq ?? head, etagOf(note), {
      'Content-Disposition': `attachment; filename="${name}"`,
    })
    if (ask.holds(caching.etag)) return { is: 'unchanged', compress: false, ...caching }
    const body = snapshot.tree.receipt(seq, witnessed)
    assert(body !== undefined, `seq ${seq} is in the log`)
    return { is: 'body', ...caching, type: NOTE_TYPE, body, compress: false }
  })
}
