import { assert } from '../../protocol/brand.ts'
import type { Entry } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { BEFORE_FIRST, type Seq } from '../../protocol/seq.ts'
import type { AsOfTotals, Books } from '../../project/fold/books.ts'
import { apply, openFold, settled } from '../../project/fold/fold.ts'
import { copyTally, emptyTally, totalsOfTally } from '../../project/fold/tally.ts'
import { openReplayShelf } from './replay-shelf.ts'

/** Entries after which the changes of the fold are moved to its shelf. */
const BATCH_ENTRIES = 256

/**
 * Books of a log that is read once, entry by entry. Totals are kept for named moments only: the moments are given before
 * the first entry, and the totals before each are copied when the log reaches it.
 */
type ReplayBooks = Readonly<{
  /** Adds the next entry; throws when it cannot be posted, and then nothing more can be added. */
  add(entry: Entry): void
  /** Books as of the last entry, valid until the next one is added. They have totals before the named moments only. */
  books(): Books
}>

/** Opens empty books, with the moments before which totals will be needed. */
export function openReplayBooks(moments: Iterable<Ms>): ReplayBooks {
  const ahead = [...new Set(moments)].toSorted((a, b) => b - a)
  const passed = new Map<Ms, AsOfTotals>()
  const kept = openReplayShelf()
  let fold = openFold(emptyTally(), kept.shelf)
  let firstAtMs: Ms | null = null
  let head: Readonly<{ seq: Seq; atMs: Ms | null }> = { seq: BEFORE_FIRST, atMs: null }

  const totalsNow = (): AsOfTotals => {
    const reached = head
    return { seq: reached.seq, head: () => reached, totals: totalsOfTally(copyTally(fold.tally)) }
  }
  const NONE = totalsNow()

  function pass(atMs: Ms): void {
    let before: AsOfTotals | undefined
    for (let next = ahead.at(-1); next !== undefined && next <= atMs; next = ahead.at(-1)) {
      before ??= totalsNow()
      passed.set(next, before)
      ahead.pop()
    }
  }

  function settle(): void {
    kept.put(fold.changes)
    fold = settled(fold)
  }

  function totalsBefore(ms: Ms): AsOfTotals {
    if (firstAtMs === null || ms <= firstAtMs) return NONE
    if (head.atMs !== null && ms > head.atMs) return totalsNow()
    const found = passed.get(ms)
    assert(found !== undefined, `the totals before ${ms} are kept`)
    return found
  }

  return {
    add(entry) {
      pass(entry.event.atMs)
      apply(fold, entry)
      firstAtMs ??= entry.event.atMs
      head = { seq: entry.event.seq, atMs: entry.event.atMs }
      if (fold.changes.entries.size >= BATCH_ENTRIES) settle()
    },
    books() {
      settle()
      return {
        head,
        firstAtMs,
        totals: totalsNow,
        totalsBefore,
        totalsBeforeEach: (bounds) => bounds.map(totalsBefore),
        // No sums of weeks are kept here. Every hour is computed, which gives the same sums in another way.
        weekStridedActivity: () => undefined,
        ...kept.listings,
      }
    },
  }
}
