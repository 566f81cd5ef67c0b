import type { LogFilter } from '../../log/store/reader.ts'
import { isEventType } from '../../protocol/catalogue.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import type { ParsedQuery } from './query.ts'

/** Filter of events that a query of `/events` or `/stream` gives. */
export function logFilter(query: ParsedQuery): LogFilter {
  return {
    types: query.list('type')?.filter(isEventType) ?? null,
    kinds: query.list('kind') ?? null,
    contestIds: query.integers('contestId')?.map(contestIdOf) ?? null,
    nonzero: query.flag('nonzero'),
  }
}
