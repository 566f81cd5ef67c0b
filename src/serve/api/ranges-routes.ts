import { isSettledBefore } from '../../project/answers/as-of.ts'
import { flows } from '../../project/answers/flows.ts'
import { funds } from '../../project/answers/funds.ts'
import { patterns } from '../../project/answers/patterns.ts'
import { type ResolvedSpan, resolvePatternRange, resolveRange } from '../../project/answers/range.ts'
import type { Head } from '../../project/fold/books.ts'
import { parsed } from '../../protocol/problem.ts'
import type { ParsedQuery } from '../query/query.ts'
import { type Desk, type Ground, project } from '../http/projection.ts'
import { listProjection } from './list-projection.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'

/** Replies of `/flows`, `/funds` and `/patterns`, the answers about a range of time. */
export function rangeReplies(desk: Desk): EndpointReplies<'flows' | 'funds' | 'patterns'> {
  return {
    flows: (ask) =>
      project(desk, ask, ({ books }) => {
        const range = resolveRange(rangeOf(ask.query), ask.now, books, ask.latest)
        if (!range.ok) return range
        const ground = groundOf(range.value, books.head)
        return parsed({
          ground,
          compute: () => parsed(listProjection(ask, 'flows', flows(books, range.value))),
        })
      }),
    funds: (ask) =>
      project(desk, ask, ({ books }) => {
        const range = resolveRange(rangeOf(ask.query), ask.now, books, ask.latest)
        if (!range.ok) return range
        // Every answer contains `now`, so none is ever settled.
        const ground = unsettledGround(range.value)
        return parsed({
          ground,
          compute: () => parsed(listProjection(ask, 'funds', funds(books, range.value))),
        })
      }),
    patterns: (ask) =>
      project(desk, ask, ({ books }) => {
        const span = resolvePatternRange(rangeOf(ask.query), ask.now, books, ask.latest)
        if (!span.ok) return span
        const tz = ask.query.integer('tz') ?? 0
        const ground = groundOf(span.value, books.head)
        return parsed({
          ground,
          compute: () => parsed(listProjection(ask, 'patterns', patterns(books, span.value, tz))),
        })
      }),
  }
}

function rangeOf(query: ParsedQuery): Parameters<typeof resolveRange>[0] {
  return { from: query.time('from'), to: query.time('to'), bucket: query.word('bucket') }
}

/** Caching of a range. A range that has ended gives the same answer for ever. */
function groundOf(span: ResolvedSpan, head: Head): Ground {
  return isSettledBefore(head, span.toMs) ? 'settled' : unsettledGround(span)
}

function unsettledGround({ nowMs }: ResolvedSpan): Ground {
  return nowMs === null ? 'log' : 'minute'
}
