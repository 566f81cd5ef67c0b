import type { KindSeen } from '../../log/reader.ts'
import { asOf } from '../../project/as-of.ts'
import type { Head } from '../../project/books.ts'
import { parsed } from '../../protocol/problem.ts'
import type { EventTypes } from '../../protocol/resources.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import { eventSchemas } from '../../protocol/schema.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { Desk } from '../projection.ts'
import { jsonOf, project } from '../projection.ts'
import type { Route } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'

/** `/event-types`: derived from the rules that admit events, so that the two cannot differ. */
export function eventTypesRoute(desk: Desk): Route {
  return endpointRoute('eventTypes', (ask) =>
    project(desk, ask, (snapshot) =>
      parsed({
        ground: 'log',
        compute: () => parsed(jsonOf(catalogue(snapshot.head, snapshot.kinds(), desk.reader.identity.chain))),
      }),
    ),
  )
}

/** The catalogue as of a head, with the kinds seen up to it. */
export function catalogue(head: Head, seen: readonly KindSeen[], chain: Chain): EventTypes {
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
