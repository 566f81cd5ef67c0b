import type { LogKeys, Witnesses } from '../../protocol/endpoints/file-endpoints.ts'
import type { FileEndpoint } from '../../protocol/endpoints/endpoints.ts'
import type { LogReader, Snapshot, WitnessedCheckpoint } from '../../log/store/reader.ts'
import { noEvent, type Problem } from '../../protocol/problem.ts'
import { parseSeq, type Seq } from '../../protocol/seq.ts'
import { assert } from '../../protocol/brand.ts'
import { etagOf } from '../http/etag.ts'
import { JSON_TYPE } from '../http/headers.ts'
import { type EndpointAnswers, problemReply, type Reply, type RouteRequest } from '../http/route.ts'
import { moment } from '../../protocol/moment.ts'

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

/** Media type of a signed note. */
const NOTE_TYPE = 'text/plain; charset=utf-8'

/** Caching of an answer that may change with the head: its ETag, and the last event that it counts as `Daybook-Seq`. */
export function revalidated(
  seq: Seq,
  etag: string,
  headers: Readonly<Record<string, string>> = {},
): Readonly<{ keep: 'revalidate'; etag: string; headers: Readonly<Record<string, string>> }> {
  return { keep: 'revalidate', etag, headers: { 'Daybook-Seq': String(seq), ...headers } }
}

/** Seconds until witnesses are asked again, when the log has grown. */
const ASKED_AGAIN_SECONDS = 10

/** Replies about the witnesses of the log: who they are, and the newest checkpoint that a quorum has cosigned. */
function witnessedReplies(log: LogReader): EndpointAnswers<'logWitnessedCheckpoint' | 'logWitnesses'> {
  return {
    logWitnessedCheckpoint: () => log.snapshot(newestReply),
    logWitnesses: () => log.snapshot(witnessesReply),
  }
}

/** Its ETag is of the content: the same tree gets newer cosignatures. */
function newestReply(snapshot: Snapshot): Reply {
  const newest = witnessedOf(snapshot, null)
  if ('code' in newest) return problemReply(newest)
  const { note, seq } = newest
  return { is: 'body', ...revalidated(seq, 'of-content'), type: NOTE_TYPE, body: note, compress: false }
}

/**
 * The newest witnessed checkpoint, if it covers an event, or null for any; otherwise the problem. Only a log with
 * witnesses lets the caller try again.
 */
function witnessedOf({ witnessed }: Snapshot, seq: Seq | null): WitnessedCheckpoint | Problem {
  const known = witnessed()
  const newest = known?.newest ?? null
  if (newest !== null && (seq === null || seq <= newest.seq)) return newest
  const members = { witnessedSeq: newest?.seq ?? null }
  if (known === null) return { code: 'not-witnessed', detail: 'This log has no witnesses.', members }
  const detail =
    newest === null
      ? 'No checkpoint has a quorum of cosignatures yet.'
      : 'The newest witnessed checkpoint does not cover this event yet.'
  return { code: 'not-witnessed', detail, members, retryAfterSeconds: ASKED_AGAIN_SECONDS }
}

function witnessesReply({ head, witnessed, cosigners }: Snapshot): Reply {
  const known = witnessed()
  const newest = known?.newest ?? null
  const body: Witnesses = {
    quorum: known?.quorum ?? null,
    witnesses: (known?.witnesses ?? []).map(({ vkey, url, state, seq, atMs }) => {
      const at = atMs === null ? null : moment(atMs).at
      return { name: nameOf(vkey), vkey, url, state, seq, at, atMs }
    }),
    witnessed:
      newest === null
        ? null
        : {
            seq: newest.seq,
            ...moment(newest.atMs),
            behind: head.seq - newest.seq,
            cosigners: cosigners(newest),
          },
  }
  return { is: 'body', ...revalidated(head.seq, 'of-content'), type: JSON_TYPE, body: JSON.stringify(body) }
}

/** Name of a verifier key: what is before its id (C2SP signed-note). */
function nameOf(vkey: string): string {
  return vkey.split('+', 1)[0] ?? ''
}
