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

/** The drafts that wait for the chain. */
type WaitingDrafts = Readonly<{
  /** Adds the transactions of new drafts to the schedule, and tells of changes. */
  look(): void
  /** Tells that this node waits for none: another one asks about them, and tells of them. */
  leave(): void
}>

const NONE: PendingDrafts = { count: 0, oldestAcceptedAt: null, unsettled: 0 }

/** Opens the looks at the drafts that wait for the chain. */
export function openWaitingDrafts(settings: WaitingSettings): WaitingDrafts {
  const { queue, schedule, monotonicMs } = settings
  let newestId = 0
  let told = NONE

  function tell(pending: PendingDrafts): void {
    const { count, oldestAcceptedAt, unsettled } = pending
    if (count === told.count && oldestAcceptedAt === told.oldestAcceptedAt && unsettled === told.unsettled)
      return
    told = pending
    settings.tell({ is: 'pending', pending })
  }

  return {
    look() {
      const waiting = queue.asked()
      const now = settings.now()
      for (const { id, draft, acceptedAt } of waiting) {
        if (id <= newestId || draft.tx === null) continue
        newestId = id
        schedule.add(draft.tx, now - acceptedAt, monotonicMs())
      }
      tell(pendingOf(waiting, now))
    },
    leave: () => tell(NONE),
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
