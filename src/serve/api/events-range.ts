import type { Snapshot, Walk } from '../../log/store/reader.ts'
import { PAGE_LIMIT_DEFAULT } from '../../protocol/parameters.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import { nextSeq, type Seq, seqOf } from '../../protocol/seq.ts'
import { logFilter, startOf } from '../http/log-filter.ts'
import type { ParsedQuery } from '../query/query.ts'
import { earlier } from './changing-events.ts'

/** Range of a requested page of `/events`, with its moments resolved to seqs. */
export type EventsRange = Omit<Walk, 'examineMax'> &
  Readonly<{
    /** Whether the query's `before` is at most head + 1, so that a descending page never changes. */
    anchored: boolean
  }>

/** Resolves the query of `/events` against one snapshot. `latest` is the latest moment allowed in it. */
export function resolveEventsRange(query: ParsedQuery, snapshot: Snapshot, latest: Ms): Parsed<EventsRange> {
  const order = query.word('order') === 'desc' ? 'desc' : 'asc'
  const givenBefore = query.integer('before')
  if (givenBefore !== undefined && order === 'asc') return refused(BEFORE_ASCENDING)
  const from = query.time('from')
  const to = query.time('to')
  if (from !== undefined && to !== undefined && from >= to) return refused(BACKWARDS)

  const { head } = snapshot
  const givenAfter = seqOf(query.integer('after') ?? 0)
  if (givenAfter > head.seq) return refused(cursorAhead(head.seq))
  const beyond = nextSeq(head.seq)
  const start = startOf({ from, after: givenAfter }, snapshot, latest)
  if (!start.ok) return start
  const end = to === undefined ? beyond : nextSeq(snapshot.seqBefore(to))
  const before = earlier(end, givenBefore === undefined ? beyond : seqOf(givenBefore))
  return parsed({
    filter: logFilter(query),
    tx: query.word('tx') ?? null,
    order,
    after: start.value,
    before,
    limit: query.integer('limit') ?? PAGE_LIMIT_DEFAULT,
    anchored: givenBefore !== undefined && givenBefore <= beyond,
  })
}

/** Problem of a cursor that is ahead of the head. */
export function cursorAhead(head: Seq): Problem {
  return {
    code: 'cursor-ahead',
    detail: 'The cursor is ahead of the head: it comes from another log, or from a node that is further on.',
    errors: [{ parameter: 'after', message: `\`after\` is at most ${head} here.` }],
    members: { head },
  }
}

const BEFORE_ASCENDING: Problem = {
  code: 'invalid-parameter',
  detail: '`before` pages backwards and needs `order=desc`.',
  errors: [{ parameter: 'before', message: '`before` is only for `order=desc`.' }],
}

const BACKWARDS: Problem = {
  code: 'invalid-range',
  detail: 'The range ends at or before its beginning: `from` is inclusive, `to` exclusive.',
  errors: [{ parameter: 'from', message: '`from` is not before `to`.' }],
}
