import type { KindSeen } from '../../log/store/reader.ts'
import { asOf } from '../../project/answers/as-of.ts'
import type { Head } from '../../project/fold/books.ts'
import { parsed, type Problem } from '../../protocol/problem.ts'
import type { EventTypes } from '../../protocol/resources.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import { eventSchemas } from '../../protocol/schema.ts'
import { BEFORE_FIRST } from '../../protocol/seq.ts'
import type { Chain } from '../../protocol/tx.ts'
import { type Desk, jsonProjection, project } from '../http/projection.ts'
import { problemReply } from '../http/route.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'

const SCHEMA_TYPE = 'application/schema+json; charset=utf-8'
const NO_TYPE: Problem = {
  code: 'not-found',
  detail: `There is no such type of event. There are ${EVENT_TYPES.join(', ')}.`,
}

/** Replies of `/event-types` and of each type's schema, derived from the rules of admission. */
export function eventTypeReplies(desk: Desk): EndpointReplies<'eventTypes' | 'eventType'> {
  const { chain } = desk.reader.identity
  // Schemas change only with the build.
  const schemas = new Map(
    Object.entries(eventSchemas(chain)).map(([type, one]) => [type, JSON.stringify(one)]),
  )
  return {
    eventTypes: (ask) =>
      project(desk, ask, ({ head, kinds }) => {
        const seen = kinds()
        // `kinds` is in the order of first appearance.
        const changedBy = seen.at(-1)?.firstSeq ?? BEFORE_FIRST
        return parsed({
          ground: 'log',
          changedBy,
          compute: () => parsed(jsonProjection(catalogue(head, seen, chain))),
        })
      }),
    eventType: ({ segments }) => {
      const body = schemas.get(segments['type'] ?? '')
      if (body === undefined) return problemReply(NO_TYPE)
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: SCHEMA_TYPE, body }
    },
  }
}

/** The catalogue of event types as of a head, with the kinds seen up to it. */
function catalogue(head: Head, seen: readonly KindSeen[], chain: Chain): EventTypes {
  const schemas = eventSchemas(chain)
  return {
    asOf: asOf(head),
    types: EVENT_TYPES.map((type) => ({
      type,
      kinds: RULES.filter((rule) => rule.type === type).map((rule) => ({
        kind: rule.kind,
        meaning: rule.meaning,
        posting: rule.posting ?? null,
      })),
      seen: seen
        .filter((one) => one.type === type)
        .map(({ kind, firstSeq }) => ({ kind, firstSeq }))
        .toSorted((a, b) => a.firstSeq - b.firstSeq),
      schema: schemas[type],
    })),
  }
}
