import type { LogFilter, Snapshot } from '../../log/store/reader.ts'
import { presentOf } from '../../project/answers/as-of.ts'
import type { Ms } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import { BEFORE_FIRST, contestIdOf, type Seq } from '../../protocol/seq.ts'
import type { ParsedQuery } from '../query/query.ts'
import { isEventType } from '../../protocol/rules.ts'

/** Filter of events in a query of `/events` or `/stream`. */
export function logFilter(query: ParsedQuery): LogFilter {
  return {
    types: query.list('type')?.filter(isEventType) ?? null,
    kinds: query.list('kind') ?? null,
    contestIds: query.integers('contestId')?.map(contestIdOf) ?? null,
    nonzero: query.flag('nonzero'),
  }
}

/**
 * Exclusive cursor before the first event at or after `from`, or `after` when that is later. Refuses a `from` later
 * than both `latest` and the head, because the client's clock or unit is wrong.
 */
export function startOf(
  { from, after }: Readonly<{ from: Ms | undefined; after: Seq | undefined }>,
  snapshot: Pick<Snapshot, 'head' | 'seqBefore'>,
  latest: Ms,
): Parsed<Seq> {
  if (from !== undefined && from > presentOf(snapshot.head, latest)) return refused(IN_THE_FUTURE)
  const before = from === undefined ? BEFORE_FIRST : snapshot.seqBefore(from)
  return parsed(after === undefined || before > after ? before : after)
}

const IN_THE_FUTURE: Problem = {
  code: 'in-the-future',
  detail: `\`from\` is later than both the present and the newest event. To wait for new events, open ${ENDPOINT_PATHS.stream} without \`from\`.`,
  errors: [{ parameter: 'from', message: '`from` is in the future.' }],
}
