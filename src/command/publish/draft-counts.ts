import type { Writable } from 'node:stream'
import { formatCount } from '../../protocol/amount.ts'
import { printNotice, type CommandContext } from '../terminal/command-context.ts'

/** Shortest time between two reports of a run without end. */
const REPORT_MS = 60_000

const STATUSES = ['published', 'duplicate', 'held', 'failed', 'dropped'] as const
type DraftStatus = (typeof STATUSES)[number]

function isStatus(text: string): text is DraftStatus {
  return STATUSES.some((status) => status === text)
}

/** Number of drafts by the status in the log. */
export type DraftCounts = Readonly<{
  /** Counts a draft. Names it if its transaction failed or the operator dropped it. */
  add(name: string, status: string): void
  /** Reports the counts on standard error when they have changed, at most once a minute. */
  reportChange(): void
  /** Prints the counts to the output. Explains on standard error why held drafts wait. */
  report(): void
  /** Number of drafts that are never published. */
  ended(): number
}>

export function openDraftCounts(context: CommandContext, output: Writable): DraftCounts {
  const counts: Record<DraftStatus, number> = { published: 0, duplicate: 0, held: 0, failed: 0, dropped: 0 }
  let saidMs = context.monotonicMs()
  let saidLine = ''
  const line = (): string => {
    const settled =
      counts.failed + counts.dropped === 0 ? '' : `, ${counts.failed} failed, ${counts.dropped} dropped`
    return `${counts.published} published, ${formatCount(counts.duplicate, 'duplicate')} skipped, ${counts.held} held${settled}`
  }
  return {
    add(name, status) {
      if (isStatus(status)) counts[status] += 1
      if (status === 'failed' || status === 'dropped')
        printNotice(context, `${name}: ${status}; it will not be published`)
    },
    reportChange() {
      const now = context.monotonicMs()
      if (now - saidMs < REPORT_MS || line() === saidLine) return
      saidMs = now
      saidLine = line()
      printNotice(context, saidLine)
    },
    report() {
      output.write(`${line()}\n`)
      if (counts.held > 0)
        printNotice(
          context,
          `held drafts wait until the chain has settled their transactions: ${context.program} held --token-file FILE lists them`,
        )
    },
    ended: () => counts.failed + counts.dropped,
  }
}
