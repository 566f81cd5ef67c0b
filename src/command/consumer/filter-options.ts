import type { Option } from 'commander'
import type { EventFilter } from '../../client/filter.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { EVENT_TYPES, type EventType } from '../../protocol/rules.ts'
import { kindWord, listOf, oneOf, type optionOf, wholeBetween } from '../terminal/options.ts'

/** Options that filter events, as commander parses them. */
export type FilterOptions = Readonly<{
  type?: readonly EventType[]
  kind?: readonly string[]
  contestId?: readonly number[]
  nonzero?: true
}>

/** Options that filter events, made by `option`. */
export function filterOptions(option: ReturnType<typeof optionOf>): readonly Option[] {
  return [
    option('--type <types>', 'only events of these types, comma-separated').argParser(
      listOf(oneOf(EVENT_TYPES)),
    ),
    option('--kind <kinds>', 'only events of these kinds, comma-separated').argParser(listOf(kindWord)),
    option('--contest-id <ids>', 'only events of these contests, comma-separated').argParser(
      listOf(wholeBetween(1, SEQ_MAX)),
    ),
    option('--nonzero', 'only events with an amount other than zero'),
  ]
}

export function filterOf({ type, kind, contestId, nonzero }: FilterOptions): EventFilter {
  return { type, kind, contestId, nonzero }
}

/** Parser of a seq; 0 is before the first one. */
export const seqNumber: (text: string) => number = wholeBetween(0, SEQ_MAX)
