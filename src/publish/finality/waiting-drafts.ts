import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import { HOUR_MS } from '../../protocol/moment.ts'
import type { HeldQueue } from '../held/held-queue.ts'
import type { FinalityReport, PendingDrafts } from './finality-report.ts'
import type { PollSchedule } from './poll-schedule.ts'

type WaitingSettings = Readonly<{
  queue: Pick<HeldQueue, 'asked'>
  schedule: PollSchedule
  now(): Ms
  monotonicMs(): number
  tell(report: FinalityReport): void
}>

/**
 * Opens the look at the drafts that wait for the chain. A look adds the transactions of new drafts to the schedule, tells
 * of changes.
 */
export function openWaitingDrafts(settings: WaitingSettings): () => void {
  const { queue, schedule, monotonicMs, tell } = settings
  let newestId = 0
  let told: PendingDrafts = { count: 0, oldestAcceptedAt: null, unsettled: 0 }

  return () => {
    const waiting = queue.asked()
    const now = settings.now()
    for (const { id, draft, acceptedAt } of waiting) {
      if (id <= newestId || draft.tx === null) continue
      newestId = id
      schedule.add(draft.tx, now - acceptedAt, monotonicMs())
    }
    const pending = pendingOf(waiting, now)
    const { count, oldestAcceptedAt, unsettled } = pending
    if (count !== told.count || oldestAcceptedAt !== told.oldestAcceptedAt || unsettled !== told.unsettled) {
      told = pending
      tell({ is: 'pending', pending })
    }
  }
}

function pendingOf(waiting: readonly HeldDraft[], now: Ms): PendingDrafts {
  const [oldest] = waiting
  let unsettled = 0
  for (const { acceptedAt } of waiting) {
    if (now - acceptedAt <= HOUR_MS) break
    unsettled += 1
  }
  return { count: waiting.length, oldestAcceptedAt: oldest?.acceptedAt ?? null, unsettled }
}
