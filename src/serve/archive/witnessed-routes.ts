import type { LogReader, Snapshot, WitnessedCheckpoint } from '../../log/store/reader.ts'
import { moment } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Witnesses } from '../../protocol/endpoints/file-endpoints.ts'
import type { EndpointAnswers } from '../http/endpoint-route.ts'
import { JSON_TYPE } from '../http/headers.ts'
import { problemReply, type Reply } from '../http/route.ts'
import { NOTE_TYPE, revalidated } from './revalidated.ts'

/** Seconds until witnesses are asked again, when the log has grown. */
const ASKED_AGAIN_SECONDS = 10

/** Replies about the witnesses of the log: who they are, and the newest checkpoint that a quorum has cosigned. */
export function witnessedReplies(log: LogReader): EndpointAnswers<'logWitnessedCheckpoint' | 'logWitnesses'> {
  return {
    logWitnessedCheckpoint: () => log.snapshot(checkpointReply),
    logWitnesses: () => log.snapshot(witnessesReply),
  }
}

/** Its ETag is of the content: the same tree gets newer cosignatures. */
function checkpointReply(snapshot: Snapshot): Reply {
  const newest = witnessedOf(snapshot, null)
  if ('code' in newest) return problemReply(newest)
  const { note, seq } = newest
  return { is: 'body', ...revalidated(seq, 'of-content'), type: NOTE_TYPE, body: note, compress: false }
}

/**
 * The newest witnessed checkpoint, if it covers an event, or null for any; otherwise the problem. Only a log with
 * witnesses lets the caller try again.
 */
export function witnessedOf({ witnessed }: Snapshot, seq: Seq | null): WitnessedCheckpoint | Problem {
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
