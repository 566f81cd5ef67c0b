import type { Snapshot } from '../../log/reader.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import { parseSeq } from '../../protocol/seq.ts'
import type { Desk } from '../projection.ts'
import { JSON_TYPE } from '../projection.ts'
import type { Ask, Reply, Route } from '../route.ts'
import { problemReply } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'

const NO_EVENT: Problem = { code: 'event-not-found', detail: 'No event has this seq, or not yet.' }

/** `/events/{seq}` and its details: the bytes of the log, for ever. */
export function eventRoutes(desk: Desk): readonly Route[] {
  return [
    endpointRoute('event', (ask) => lineReply(desk, ask, (snapshot, seq) => snapshot.line(seq))),
    endpointRoute('eventDetails', (ask) =>
      lineReply(desk, ask, (snapshot, seq) => snapshot.detailsLine(seq)),
    ),
  ]
}

function lineReply(
  desk: Desk,
  ask: Ask,
  read: (snapshot: Snapshot, seq: Seq) => Uint8Array | string | undefined,
): Reply {
  const seq = parseSeq(ask.segments['seq'] ?? '')
  const body = seq === undefined ? undefined : desk.reader.snapshot((snapshot) => read(snapshot, seq))
  if (body === undefined) return problemReply(NO_EVENT)
  return { is: 'body', keep: 'immutable', etag: 'of-content', type: JSON_TYPE, body }
}
