import { type CommandContext, pause, printNotice } from '../terminal/command-context.ts'
import { printable } from '../terminal/output.ts'
import {
  type DraftOutcome,
  type PublishAccess,
  type PublishFailure,
  REQUEST_TIMEOUT,
  sendOnce,
} from './publish-client.ts'

/** Most drafts and bytes of one request. */
const REQUEST_DRAFTS = 1_000
const REQUEST_BYTES = 8 * 1024 * 1024
/** First wait between two attempts. It doubles up to the longest. */
const RETRY_MS_MIN = 500
const RETRY_MS_MAX = 30_000
/** Longest wait before a retry of a draft that waits for held ones. A settlement takes some seconds. */
const HELD_RETRY_MS_MAX = 5_000
/** Longest wait that an answer may ask for. */
const ASKED_MS_MAX = 60_000
const TOO_LARGE = 413

/** Draft as a line of JSON, and the name of its source for messages. */
export type DraftRow = Readonly<{ name: string; line: string }>

/** Called with accepted rows, in order, before the next ones are sent. */
type Settle<Row> = (
  rows: readonly Row[],
  receipts: readonly DraftOutcome[],
  log: string | null,
) => Promise<void>

/** End of a run of rows: all are settled, the command was stopped, or a row needs a person. */
type SendEnd = Readonly<
  { is: 'sent' } | { is: 'stopped' } | { is: 'refused'; reason: string; otherLog: string | null }
>

/**
 * Access to the publish API, with retries until it answers. `access.log` is the log of the first answer, which every
 * later one must have.
 */
export type DraftSender = {
  access: PublishAccess
  readonly trouble: TroubleReport
  /** Wait between two attempts, which a stop ends; `pause` by default. */
  readonly wait?: typeof pause
}

/**
 * Sends rows in order. After a refusal, the rows before the refused one are sent, then it alone. A temporary refusal is
 * retried without end.
 */
export async function sendRows<Row extends DraftRow>(
  sender: DraftSender,
  rows: readonly Row[],
  settle: Settle<Row>,
): Promise<SendEnd> {
  /** First unsettled row; index of the row that is sent alone; most rows of a request. */
  let [from, alone, most] = [0, -1, REQUEST_DRAFTS]
  const { wait = pause } = sender
  let waitMs = RETRY_MS_MIN
  /** Rows that were refused together with an earlier one, and the reason of each. */
  const bad = new Map<number, string>()
  while (from < rows.length) {
    const part = rows.slice(from, endOf(rows, from, alone, most))
    const answer = await sendOnce(
      sender.access,
      part.map(({ line }) => line),
    )
    if (answer.ok) {
      sender.trouble.over('the publish API takes drafts again')
      sender.access = { ...sender.access, log: sender.access.log ?? answer.log }
      await settle(part, answer.receipts, answer.log)
      from += part.length
      waitMs = RETRY_MS_MIN
      continue
    }
    if (sender.access.stop.aborted) return { is: 'stopped' }
    const { failure } = answer
    const index = failure.draft ?? -1
    const row = part[index]
    if (row !== undefined && part.length > 1) {
      alone = from + index
      bad.clear()
      for (const { draft, ...fault } of failure.others) bad.set(from + draft, reasonOf(part[draft], fault))
    } else if (failure.status === TOO_LARGE && part.length > 1) {
      most = Math.ceil(part.length / 2)
    } else if (passes(failure)) {
      // The link may be too slow for this many.
      if (failure.status === REQUEST_TIMEOUT) most = Math.ceil(part.length / 2)
      const limit = failure.held > 0 ? HELD_RETRY_MS_MAX : RETRY_MS_MAX
      sender.trouble.lasts(waitReason(row, failure))
      const askedMs = Math.min(failure.retryMs ?? 0, ASKED_MS_MAX)
      await wait(Math.max(Math.min(waitMs, limit), askedMs), sender.access.stop)
      if (sender.access.stop.aborted) return { is: 'stopped' }
      waitMs = Math.min(waitMs * 2, limit)
    } else {
      const later = [...bad].flatMap(([at, reason]) => (at > from ? [reason] : []))
      const reason = [reasonOf(row, failure), ...later].join('; ')
      return { is: 'refused', reason, otherLog: failure.otherLog }
    }
  }
  return { is: 'sent' }
}

/** End of the next request: before a row that is sent alone, after it, or by number and bytes. */
function endOf(rows: readonly DraftRow[], from: number, alone: number, most: number): number {
  const limit = from === alone ? from + 1 : from < alone ? alone : rows.length
  let end = from
  for (let bytes = 0; end < Math.min(limit, from + most); end++) {
    bytes += Buffer.byteLength(rows[end]?.line ?? '') + 1
    if (bytes > REQUEST_BYTES && end > from) break
  }
  return end
}

/** Whether the same request may succeed later without help. */
function passes({ status, held }: PublishFailure): boolean {
  return status === null || status === REQUEST_TIMEOUT || status === 429 || status >= 500 || held > 0
}

function waitReason(row: DraftRow | undefined, failure: PublishFailure): string {
  const reason = reasonOf(row, failure)
  return failure.held > 0 ? `${reason}; waiting for held drafts (${failure.held})` : `${reason}; trying again`
}

function reasonOf(
  row: DraftRow | undefined,
  { field, reason }: Pick<PublishFailure, 'field' | 'reason'>,
): string {
  const place = [row?.name, field].filter((part) => part != null)
  return [...(place.length === 0 ? [] : [place.join(', ')]), printable(reason)].join(': ')
}

const REPEAT_MS = 60_000

/** Reports of a fault that makes the command wait: at its beginning, each minute while it lasts, and at its end. */
export type TroubleReport = Readonly<{
  lasts(line: string): void
  over(line: string): void
}>

export function openTroubleReport(context: CommandContext): TroubleReport {
  let saidMs: number | null = null
  return {
    lasts(line) {
      const now = context.monotonicMs()
      if (saidMs !== null && now - saidMs < REPEAT_MS) return
      saidMs = now
      printNotice(context, line)
    },
    over(line) {
      if (saidMs !== null) printNotice(context, line)
      saidMs = null
    },
  }
}
