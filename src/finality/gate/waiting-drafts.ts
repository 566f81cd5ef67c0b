import type { Ballot, ServerAnswer } from '../chain/tx-verdict.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { HeldCommands } from '../../publish/held-commands.ts'
import type { FinalityReport, PendingDrafts } from './finality-report.ts'
import type { AskedChain } from './finality-settings.ts'
import type { ServerSaid } from '../../publish/tx-judge.ts'
import type { PollSchedule } from './poll-schedule.ts'
import { failureWords } from '../rpc/rpc-failure.ts'

type WaitingSettings = Readonly<{
  chain: AskedChain
  queue: Pick<HeldCommands, 'asked'>
  schedule: PollSchedule
  /** Age from which a draft that waits is told. */
  overdueMs: number
  now(): Ms
  monotonicMs(): number
  tell(report: FinalityReport): void
}>

/** The drafts that wait for the chain. */
type WaitingDrafts = Readonly<{
  /** Adds the transactions of new drafts to the schedule, and tells of changes. */
  look(): void
  /** Takes the answers of the servers about a transaction. */
  hear(tx: string, answers: readonly ServerAnswer[]): void
  /** Last words of the servers about a transaction that waits; null before the first question. */
  said(tx: string): readonly ServerSaid[] | null
  /** Tells that this node waits for none: another one asks about them, and tells of them. */
  leave(): void
}>

const NONE: PendingDrafts = { count: 0, oldestAcceptedAt: null, unsettled: 0 }
/** Time between two reports of overdue drafts. */
const OVERDUE_REPORT_MS = 60_000

/** Opens the looks at the drafts that wait for the chain. */
export function openWaitingDrafts(settings: WaitingSettings): WaitingDrafts {
  const { queue, schedule, monotonicMs } = settings
  const heard = new Map<string, readonly ServerAnswer[]>()
  let newestId = 0
  let told = NONE
  /** The newest draft that was told as overdue, and the moment of the next report. */
  let overdueId = 0
  let nextReportMs = -Infinity

  function tell(pending: PendingDrafts): void {
    const { count, oldestAcceptedAt, unsettled } = pending
    if (count === told.count && oldestAcceptedAt === told.oldestAcceptedAt && unsettled === told.unsettled)
      return
    told = pending
    settings.tell({ is: 'pending', pending })
  }

  /** Tells of drafts that have become overdue, once each, when the servers were asked about the first of them. */
  function tellOverdue(overdue: readonly HeldDraft[]): void {
    const drafts = overdue.filter(({ id }) => id > overdueId)
    const words = said(drafts[0]?.draft.tx ?? '')
    if (words === null || monotonicMs() < nextReportMs) return
    overdueId = drafts.at(-1)?.id ?? overdueId
    nextReportMs = monotonicMs() + OVERDUE_REPORT_MS
    settings.tell({ is: 'overdue', drafts: drafts.map(({ id }) => id), said: words })
  }

  const said = (tx: string): readonly ServerSaid[] | null =>
    heard.get(tx)?.map((answer) => lastWordsOf(settings.chain, answer)) ?? null

  /** Forgets answers about transactions that wait no more. */
  function forget(waiting: number): void {
    if (heard.size <= waiting) return
    for (const tx of heard.keys()) if (!schedule.has(tx)) heard.delete(tx)
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
      const overdue = overdueOf(waiting, now - settings.overdueMs)
      const oldestAcceptedAt = waiting[0]?.acceptedAt ?? null
      tell({ count: waiting.length, oldestAcceptedAt, unsettled: overdue.length })
      tellOverdue(overdue)
      forget(waiting.length)
    },
    hear: (tx, answers) => void (schedule.has(tx) && heard.set(tx, answers)),
    said,
    leave: () => tell(NONE),
  }
}

/**
 * The drafts that were accepted before a moment, in order of acceptance. One with a reason is settled: its transaction
 * moved less than its payouts name.
 */
function overdueOf(waiting: readonly HeldDraft[], before: number): readonly HeldDraft[] {
  const first = waiting.findIndex(({ acceptedAt }) => acceptedAt >= before)
  const old = first === -1 ? waiting : waiting.slice(0, first)
  return old.filter(({ reason }) => reason === null)
}

/** Name of the head of a chain: the newest slot of a server, or its finalized block. */
const HEAD: Readonly<Record<AskedChain, string>> = { solana: 'slot', evm: 'finalized block' }

/** The answer of a server in words, or why there is none. */
function lastWordsOf(chain: AskedChain, { server, ballot, failure }: ServerAnswer): ServerSaid {
  if (ballot !== undefined) return { server, words: wordsOf(ballot, HEAD[chain]) }
  return { server, words: failure === null ? 'no answer' : `no answer: ${failureWords(failure)}` }
}

function wordsOf({ vote, head }: Ballot, headName: string): string {
  switch (vote?.is) {
    case 'final':
    case 'failed':
      return `${vote.is} in ${vote.place}`
    case 'waiting':
      return `${vote.stage}; its ${headName} is ${head}`
    case 'unknown':
      return `unknown; its ${headName} is ${head}`
    // A receipt without status.
    case undefined:
      return `no outcome; its ${headName} is ${head}`
  }
}
