import { Counter, type Registry } from 'prom-client'
import type { MirrorState } from '../mirror-watch.ts'
import { gauge } from '../../serve/metrics/metrics.ts'

/** Registers the metrics of a mirror. The state is null before the thread that follows the origin has sent it. */
export function openMirrorMetrics(
  registry: Registry,
  state: () => MirrorState | null,
): Readonly<{ committed(events: number): void }> {
  const seconds = (ms: number | null | undefined): number => (ms ?? 0) / 1_000
  gauge(
    registry,
    'daybook_mirror_behind_events',
    'Events that the origin has shown and this mirror has not proved',
    () => state()?.behindEvents ?? 0,
  )
  gauge(
    registry,
    'daybook_mirror_behind_seconds',
    'Most seconds by which answers of this mirror may be late',
    () => seconds(state()?.behindMs),
  )
  gauge(
    registry,
    'daybook_mirror_proved_timestamp_seconds',
    'When the origin last showed a checkpoint that agrees with this mirror; 0 before the first',
    () => seconds(state()?.provedAt),
  )
  gauge(
    registry,
    'daybook_mirror_contact_timestamp_seconds',
    'When the origin last answered; 0 before the first answer',
    () => seconds(state()?.lastContactAt),
  )
  gauge(
    registry,
    'daybook_mirror_contradicted',
    '1 when the origin contradicts what it signed, and is followed no longer',
    () => ((state()?.contradicted ?? null) === null ? 0 : 1),
  )
  const events = new Counter({
    name: 'daybook_mirror_events_total',
    help: 'Events taken from the origin and proved since the start',
    registers: [registry],
  })
  return { committed: (count) => events.inc(count) }
}
