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

/** Replies of the tree files (C2SP tlog-tiles): checkpoints, tiles, entry bundles, keys, witnesses and receipts. */
export function treeReplies(log: LogReader): EndpointAnswers<LogFileEndpoint> {
  return {
    // A change of keys changes the signatures at the same head.
    logCheckpoint: () => log.snapshot(({ head, tree }) => noteReply(head.seq, tree.checkpoint())),
    logWitnessedCheckpoint: () =>
      log.snapshot((snapshot) => {
        // The same tree gets newer cosignatures.
        const newest = witnessedOf(snapshot, null)
        return 'code' in newest ? problemReply(newest) : noteReply(newest.seq, newest.note)
      }),
    logTile: ({ segments: { level, tile } }) =>
      log.snapshot(({ tree }) => tileReply(tree.tile(`tile/${level}/${tile}`), false)),
    logEntries: ({ segments: { tile } }) =>
      log.snapshot(({ tree }) => tileReply(tree.entries(`tile/entries/${tile}`), true)),
    logKeys: () => log.snapshot((snapshot) => jsonReply(snapshot.head.seq, logKeysOf(log, snapshot))),
    logWitnesses: () => log.snapshot((snapshot) => jsonReply(snapshot.head.seq, witnessesOf(snapshot))),
    logProof: (ask) => log.snapshot((snapshot) => proofReply(snapshot, ask)),
  }
}

/** Reply with a signed note. Its ETag depends on the content, because a note may change at the same head. */
function noteReply(seq: Seq, body: Uint8Array | string): Reply {
  return { is: 'body', ...revalidated(seq, 'of-content'), type: NOTE_TYPE, body, compress: false }
}

function jsonReply(seq: Seq, value: LogKeys | Witnesses): Reply {
  return { is: 'body', ...revalidated(seq, 'of-content'), type: JSON_TYPE, body: JSON.stringify(value) }
}

/** Sends a tile, which never changes. Only entry bundles are compressed: hashes are random bytes. */
function tileReply(body: Uint8Array | undefined, compress: boolean): Reply {
  if (body === undefined) return problemReply(NO_TILE)
  return { is: 'body', keep: 'immutable', etag: 'of-content', type: HASHES_TYPE, body, compress }
}

function logKeysOf({ identity }: LogReader, snapshot: Snapshot): LogKeys {
  return {
    origin: identity.origin,
    logId: identity.id,
    keys: snapshot.keys().map(({ vkey, fromSize, toSize, statement }) => {
      return { vkey, state: toSize === null ? 'signing' : 'retired', fromSize, toSize, statement }
    }),
    formerLogs: identity.former.map(({ id, origin, size }) => ({ id, origin, size })),
  }
}

/**
 * Reply with a receipt. It changes only with its checkpoint, so it has the checkpoint's ETag, and a 304 computes no
 * proof.
 */
function proofReply(snapshot: Snapshot, ask: RouteRequest): Reply {
  const head = snapshot.head.seq
  const seq = parseSeq(ask.segments['seq'] ?? '')
  if (seq === undefined || seq < 1 || seq > head) return problemReply(noEvent(head, ask.segments['seq']))
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
}

/** Media type of a signed note. */
const NOTE_TYPE = 'text/plain; charset=utf-8'

/** Cache policy of an answer that may change with the head: its ETag, and the last counted event as `Daybook-Seq`. */
export function revalidated(
  seq: Seq,
  etag: string,
  headers: Readonly<Record<string, string>> = {},
): Readonly<{ keep: 'revalidate'; etag: string; headers: Readonly<Record<string, string>> }> {
  return { keep: 'revalidate', etag, headers: { 'Daybook-Seq': String(seq), ...headers } }
}

/** Seconds until witnesses are asked again after the log has grown. */
const ASKED_AGAIN_SECONDS = 10

/**
 * Newest witnessed checkpoint if it covers the event (null for any), otherwise the problem. Only a log with witnesses
 * allows a retry.
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

function witnessesOf({ head, witnessed, cosigners }: Snapshot): Witnesses {
  const known = witnessed()
  const newest = known?.newest ?? null
  return {
    quorum: known?.quorum ?? null,
    witnesses: (known?.witnesses ?? []).map(({ vkey, url, state, seq, atMs }) => {
      const at = atMs === null ? null : moment(atMs).at
      return { name: nameOf(vkey), vkey, url, state, seq, at, atMs }
    }),
    witnessed: newest && {
      seq: newest.seq,
      ...moment(newest.atMs),
      behind: head.seq - newest.seq,
      cosigners: cosigners(newest),
    },
  }
}

/** Name of a verifier key: the part before its id (C2SP signed-note). */
function nameOf(vkey: string): string {
  return vkey.split('+', 1)[0] ?? ''
}
