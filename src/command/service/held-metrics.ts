import type { Registry } from 'prom-client'
import type { FinalityCounts } from '../../log/store/reader.ts'
import { copiedCounter, gauge } from '../../serve/metrics/metrics.ts'

/** Registers the counts of held drafts in the store, which are read at each collection. */
export function watchHeld(registry: Registry, readStore: () => FinalityCounts): void {
  let last = readStore()
  // A store that cannot be read is a check of readiness. It must not take away all metrics.
  const read = (): FinalityCounts => {
    try {
      last = readStore()
    } catch {}
    return last
  }
  gauge(registry, 'daybook_finality_held', 'Drafts that are accepted and not published', () => read().held)
  gauge(
    registry,
    'daybook_finality_refused',
    'Held drafts that the books or the comparison of amounts refuse',
    () => read().refused,
  )
  copiedCounter(
    registry,
    'daybook_finality_failed_total',
    'Drafts whose transaction failed',
    () => read().failed,
  )
  copiedCounter(
    registry,
    'daybook_finality_dropped_total',
    'Drafts that the operator gave up',
    () => read().dropped,
  )
  copiedCounter(
    registry,
    'daybook_finality_vouched_total',
    'Events published by the operator’s word',
    () => read().vouched,
  )
}
