import { type Ms, msOf } from '../../protocol/moment.ts'
import { type ClockGuard, openClockGuard } from '../guards/clock-guard.ts'
import { openSharedClock } from '../guards/shared-clock.ts'
import type { WriterTime } from './carried-log.ts'
import type { FromWriter, WriterSettings } from './writer-messages.ts'

/** The clock of the writer, and its guard; null for none. */
export type WriterClock = Readonly<{ now(): Ms; guard: ClockGuard | null }>

/** The machine's clock with its guard, or the shared clock of a test without one. */
export function openWriterClock(
  { clock, acceptClock }: WriterSettings,
  { nowMs, monotonicMs }: WriterTime,
  headAtMs: () => Ms | null,
  say: (message: FromWriter) => void,
): WriterClock {
  if (clock !== undefined) return { now: openSharedClock(clock).now, guard: null }
  const now = (): Ms => msOf(nowMs())
  const guard = openClockGuard({
    now,
    monotonicMs,
    headAtMs,
    accepted: acceptClock,
    onChange: (fault) => say({ is: 'clock', fault }),
  })
  return { now, guard }
}
