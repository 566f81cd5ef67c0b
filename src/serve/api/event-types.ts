import type { KindSeen } from '../../log/reader.ts'
import { asOf } from '../../project/as-of.ts'
import type { Head } from '../../project/books.ts'
import { parsed } from '../../protocol/problem.ts'
import type { AsOf } from '../../protocol/resources.ts'
import type { EventType } from '../../protocol/rules.ts'
import { EVENT_TYPES, RULES } from '../../protocol/rules.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { eventSchemas } from '../../protocol/schema.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { Desk } from '../projection.ts'
import { jsonOf, project } from '../projection.ts'
import type { Route } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'

/** The catalogue: what each type of event says, moves and needs, and which kinds there have been. */
export type EventTypes = Readonly<{
  asOf: AsOf
  types: readonly Readonly<{
    type: EventType
    kinds: readonly Readonly<{
      /** A fixed kind, or `*` for every other word of the operator. */
      kind: string
      meaning: string
      posting: Readonly<{ from: string; to: string }> | null
    }>[]
    seen: readonly Readonly<{ kind: string; firstSeq: number }>[]
    /** The JSON Schema of its events, with those of their details under `$defs`. */
    schema: JsonSchema
  }>[]
}>

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
