import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { HeldCommands } from '../../publish/held-commands.ts'
import type { LastMessage } from '../../publish/tx-judge.ts'
import type { Ballot, ServerAnswer } from '../chain/tx-verdict.ts'
import { formatFailure } from '../rpc/rpc-failure.ts'
import type { FinalityReport, PendingDrafts } from './finality-report.ts'
import type { AskedChain } from './finality-settings.ts'
import type { PollSchedule } from './poll-schedule.ts'

type WaitingSettings = Readonly<{
  chain: AskedChain
  heldCommands: Pick<HeldCommands, 'asked'>
  schedule: PollSchedule
  /** Age from which a draft that waits is reported. */
  overdueMs: number
  now(): Ms
  monotonicMs(): number
  notify(report: FinalityReport): void
}>

/** The drafts that wait for the chain. */
type WaitingDrafts = Readonly<{
  /** Adds the transactions of new drafts to the schedule, and reports changes. */
  look(): void
  /** Records the servers' answers about a transaction. */
  note(tx: string, answers: readonly ServerAnswer[]): void
  /** Last messages of the servers about a transaction that waits; null before the first request. */
  lastMessages(tx: string): readonly LastMessage[] | null
  /** Clears the reported drafts, because another node now asks about them and reports them. */
  leave(): void
}>

const NONE: PendingDrafts = { count: 0, oldestAcceptedAt: null, unsettled: 0 }

/** Time between two reports of overdue drafts. */
const OVERDUE_REPORT_MS = 60_000

/** Opens the checks of the drafts that wait for the chain. */
export function openWaitingDrafts(settings: WaitingSettings): WaitingDrafts {
  const { chain, heldCommands, schedule, monotonicMs } = settings
  const answersOf = new Map<string, readonly ServerAnswer[]>()
  let newestId = 0
  let reported = NONE
  /** Newest draft that was reported as overdue, and the time of the next report. */
  let overdueId = 0
  let nextReportMs = -Infinity

  function notify(pending: PendingDrafts): void {
    const isSame = (['count', 'oldestAcceptedAt', 'unsettled'] as const).every(
      (name) => pending[name] === reported[name],
    )
    if (!isSame) settings.notify({ is: 'pending', pending })
    reported = pending
  }

  /** Reports drafts that have become overdue, once each, after the servers were asked about the first of them. */
  function notifyOverdue(overdue: readonly HeldDraft[]): void {
    const drafts = overdue.filter(({ id }) => id > overdueId)
    const answers = lastMessages(drafts[0]?.draft.tx ?? '')
    if (answers === null || monotonicMs() < nextReportMs) return
    overdueId = drafts.at(-1)?.id ?? overdueId
    nextReportMs = monotonicMs() + OVERDUE_REPORT_MS
    settings.notify({ is: 'overdue', drafts: drafts.map(({ id }) => id), answers })
  }

  const lastMessages = (tx: string): readonly LastMessage[] | null =>
    answersOf.get(tx)?.map((answer) => ({ server: answer.server, words: wordsOf(chain, answer) })) ?? null

  return {
    look() {
      const waiting = heldCommands.asked()
      const now = settings.now()
      for (const { id, draft, acceptedAt } of waiting) {
        if (id <= newestId || draft.tx === null) continue
        newestId = id
        schedule.add(draft.tx, now - acceptedAt, monotonicMs())
      }
      // A draft with a reason is settled: its transaction moved less than its payouts.
      const overdue = waiting.filter(
        ({ acceptedAt, reason }) => acceptedAt < now - settings.overdueMs && reason === null,
      )
      const oldestAcceptedAt = waiting[0]?.acceptedAt ?? null
      notify({ count: waiting.length, oldestAcceptedAt, unsettled: overdue.length })
      notifyOverdue(overdue)
      if (answersOf.size > waiting.length)
        for (const tx of answersOf.keys()) if (!schedule.has(tx)) answersOf.delete(tx)
    },
    note: (tx, answers) => void (schedule.has(tx) && answersOf.set(tx, answers)),
    lastMessages,
    leave: () => notify(NONE),
  }
}

/** Name of a chain's head: the newest slot of a server, or its finalized block. */
const HEAD: Readonly<Record<AskedChain, string>> = { solana: 'slot', evm: 'finalized block' }

/** Text of a server's answer, or of the reason why there is none. */
function wordsOf(chain: AskedChain, { ballot, failure }: ServerAnswer): string {
  if (ballot === undefined) return failure === null ? 'no answer' : `no answer: ${formatFailure(failure)}`
  const { vote, head }: Ballot = ballot
  const at = `; its ${HEAD[chain]} is ${head}`
  switch (vote?.is) {
    case 'final':
    case 'failed':
      return `${vote.is} in ${vote.place}`
    case 'waiting':
      return `${vote.stage}${at}`
    case 'unknown':
      return `unknown${at}`
    // A receipt without status.
    case undefined:
      return `no outcome${at}`
  }
}
