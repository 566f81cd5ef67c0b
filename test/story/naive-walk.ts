import type { Walk, WalkResult } from '../../src/log/store/reader.ts'
import { type DaybookEvent, formatEvent } from '../../src/protocol/event.ts'
import { seqOf } from '../../src/protocol/seq.ts'

/** Whether an event passes a filter and names the transaction, apart from `nonzero`. */
function passes(event: DaybookEvent, { filter, tx }: Pick<Walk, 'filter' | 'tx'>): boolean {
  const { types, kinds, contestIds } = filter
  return (
    (tx === null || event.tx === tx) &&
    (types === null || types.includes(event.type)) &&
    (kinds === null || kinds.includes(event.kind)) &&
    (contestIds === null || (event.contestId !== null && contestIds.includes(event.contestId)))
  )
}

/** Whether an event matches a walk. */
export function isMatch(event: DaybookEvent, walk: Pick<Walk, 'filter' | 'tx'>): boolean {
  return passes(event, walk) && (!walk.filter.nonzero || (event.kots !== null && event.kots !== 0n))
}

/** The specification of a walk, applied to one event at a time. */
export function naiveWalk(
  events: readonly DaybookEvent[],
  walk: Walk,
): Omit<WalkResult, 'bytes'> & Readonly<{ lines: readonly string[] }> {
  const { filter, order, after, before, limit, examineMax } = walk
  const inRange = events.filter(({ seq }) => seq > after && seq < before)
  if (inRange.length === 0)
    return { lines: [], count: 0, scannedTo: order === 'asc' ? after : before, hasMore: false }
  const found: DaybookEvent[] = []
  let examined = 0
  let scannedTo = seqOf(order === 'asc' ? before - 1 : after + 1)
  for (const event of order === 'asc' ? inRange : inRange.toReversed()) {
    if (!passes(event, walk)) continue
    examined += 1
    if (isMatch(event, walk)) found.push(event)
    if (found.length < limit && !(filter.nonzero && examined === examineMax)) continue
    scannedTo = event.seq
    break
  }
  const hasMore = order === 'asc' ? scannedTo < before - 1 : scannedTo > after + 1
  return { lines: found.map(formatEvent), count: found.length, scannedTo, hasMore }
}
