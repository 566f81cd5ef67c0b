import { randomOf } from '../../../sim/random.ts'
import type { CountedCall } from './io-shim.ts'

/** Equal calls on one file in a row, more than which are not all tried. */
const RUN_MAX = 12
/** Calls at each end of such a run that are, and between. */
const RUN_ENDS = 4
const RUN_BETWEEN = 4

/**
 * Leaves of many equal calls on one file in a row the first, the last and some between: a copy of a store has thousands.
 * Those between are the same in each part of a campaign, which otherwise would try other cases than the parts share.
 */
export function withoutLongRuns(changes: readonly CountedCall[]): readonly CountedCall[] {
  const random = randomOf('calls between')
  const kept: CountedCall[] = []
  for (let from = 0; from < changes.length;) {
    const [first] = changes.slice(from)
    let to = from + 1
    while (to < changes.length && changes[to]?.call === first?.call && changes[to]?.path === first?.path)
      to += 1
    const row = changes.slice(from, to)
    if (row.length <= RUN_MAX) kept.push(...row)
    else {
      const between = Array.from({ length: RUN_BETWEEN }, () =>
        random.between(RUN_ENDS, row.length - RUN_ENDS - 1),
      )
      const at = (index: number): boolean =>
        index < RUN_ENDS || index >= row.length - RUN_ENDS || between.includes(index)
      kept.push(...row.filter((_, index) => at(index)))
    }
    from = to
  }
  return kept
}
