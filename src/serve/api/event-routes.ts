import type { Snapshot } from '../../log/store/reader.ts'
import { parsed, refused } from '../../protocol/problem.ts'
import { parseSeq, type Seq } from '../../protocol/seq.ts'
import { eventCorrections } from '../../project/answers/event-corrections.ts'
import { type Desk, JSON_TYPE, jsonProjection, project } from '../http/projection.ts'
import { problemReply, type Reply, type RouteRequest } from '../http/route.ts'
import { noEvent } from '../http/no-event.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'

/** Replies of one event, `/events/{seq}`: its line and details, which never change, and its corrections. */
export function eventReplies(desk: Desk): EndpointReplies<'event' | 'eventDetails' | 'eventCorrections'> {
  return {
    event: (ask) => lineReply(desk, ask, (snapshot, seq) => snapshot.line(seq)),
    eventDetails: (ask) => lineReply(desk, ask, (snapshot, seq) => snapshot.detailsLine(seq)),
    eventCorrections: (ask) =>
      project(desk, ask, ({ head, books }) => {
        const seq = parseSeq(ask.segments['seq'] ?? '')
        if (seq === undefined || seq < 1 || seq > head.seq)
          return refused(noEvent(head.seq, ask.segments['seq']))
        const correction = books.correction(seq)
        // The event, its correction and its restatement follow each other.
        const changedBy = correction?.restatement ?? correction?.by ?? seq
        const compute = () => parsed(jsonProjection(eventCorrections(books, seq)))
        return parsed({ ground: 'log', changedBy, compute })
      }),
  }
}

function lineReply(
  desk: Desk,
  ask: RouteRequest,
  read: (snapshot: Snapshot, seq: Seq) => Uint8Array | string | undefined,
): Reply {
  const seq = parseSeq(ask.segments['seq'] ?? '')
  return desk.reader.snapshot((snapshot): Reply => {
    const body = seq === undefined ? undefined : read(snapshot, seq)
    if (body === undefined) return problemReply(noEvent(snapshot.head.seq, ask.segments['seq']))
    return { is: 'body', keep: 'immutable', etag: 'of-content', type: JSON_TYPE, body }
  })
}
