import type { PublishAccess } from '../command/publish/publish-client.ts'
import { printable } from '../command/terminal/output.ts'
import {
  type CommandContext,
  type ExitCode,
  pause,
  printNotice,
} from '../command/terminal/command-context.ts'
import { CommandError } from '../command/terminal/command-error.ts'
import { openNotifier } from '../command/publish/notifier.ts'
import { DatabaseError } from '../command/database/database-connection.ts'
import { type DraftCounts, openDraftCounts } from '../command/publish/draft-counts.ts'
import {
  type DraftSender,
  openTroubleReport,
  sendRows,
  type TroubleReport,
} from '../command/publish/draft-sender.ts'
import { openOutboxSession, type OutboxSession } from './outbox-session.ts'
import type { OutboxTable } from './outbox-sql.ts'
import type { DatabaseTarget } from '../command/database/database-url.ts'

/** Interval of the drainer's own checks. A notification wakes it too, but notifications may be lost. */
const LOOK_MS = 1_000
/** First wait between two attempts to connect. It doubles up to the longest. */
const CONNECT_MS_MIN = 250
const CONNECT_MS_MAX = 15_000

type OutboxSettings = Readonly<{
  target: DatabaseTarget
  table: OutboxTable
  access: PublishAccess
  /** Whether the command ends when no row is left. */
  once: boolean
}>

/** State of a run, across connections. */
type Run = Readonly<{
  settings: OutboxSettings
  sender: DraftSender
  counts: DraftCounts
  trouble: TroubleReport
  context: CommandContext
}>

/**
 * Publishes the rows of an outbox, in the order of their commits. Ends at a stop, at a row that needs a person, and
 * with `once` when no row is left. A repeated row changes nothing, because its ref is known.
 */
export async function drainOutbox(settings: OutboxSettings, context: CommandContext): Promise<ExitCode> {
  const sender: DraftSender = { access: settings.access, trouble: openTroubleReport(context) }
  const counts = openDraftCounts(context, context.stdout)
  const run: Run = { settings, sender, counts, trouble: openTroubleReport(context), context }
  const { shown } = settings.target
  let wasOpen = false
  for (let waitMs = CONNECT_MS_MIN; ; waitMs = Math.min(waitMs * 2, CONNECT_MS_MAX)) {
    try {
      const opened = await openOutboxSession(settings.target, settings.table, context.stop)
      if (opened.is === 'open') {
        await using session = opened.session
        run.trouble.over(`${shown} answers again`)
        wasOpen = true
        waitMs = CONNECT_MS_MIN
        return await drainSession(run, session)
      }
      // After a failover the old primary may be a standby for a while.
      const reason = `${shown} is a standby: give --from the address of the primary`
      if (!wasOpen) throw new CommandError(reason)
      run.trouble.lasts(`${reason}; trying again`)
    } catch (error) {
      if (context.stop.aborted) return ended(run, 0)
      if (!(error instanceof DatabaseError)) {
        counts.report()
        throw error
      }
      if (!error.passes) {
        counts.report()
        throw new CommandError(`${shown}: ${error.message}`, { cause: error })
      }
      run.trouble.lasts(`${shown}: ${error.message}; trying again`)
    }
    await pause(waitMs * (0.5 + context.random() / 2), context.stop)
    if (context.stop.aborted) return ended(run, 0)
  }
}

/** Drains while the connection lasts. */
async function drainSession(run: Run, session: OutboxSession): Promise<ExitCode> {
  const { settings, sender, counts, context } = run
  const notifier = openNotifier(context.stop)
  session.onRows(notifier.notify)
  let isTold = false
  while (!(await session.lock())) {
    if (!isTold) printNotice(context, 'another drainer has the outbox; waiting for its end')
    isTold = true
    await notifier.wait(LOOK_MS)
    if (context.stop.aborted) return ended(run, 0)
  }
  if (isTold) printNotice(context, 'draining')
  await pinLog(sender, session, settings.table)
  for (;;) {
    notifier.clear()
    const rows = await session.waiting()
    if (rows.length === 0) {
      counts.reportChange()
      if (settings.once) return ended(run, 0)
      await notifier.wait(LOOK_MS)
      if (context.stop.aborted) return ended(run, 0)
      continue
    }
    const end = await sendRows(sender, rows, async (taken, receipts, log) => {
      const drained = taken.map(({ id }, index) => {
        const { status = '', seq = null } = receipts[index] ?? {}
        return { id, status, seq }
      })
      await session.markDrained(drained, log)
      for (const { id, status } of drained) counts.add(`row ${id}`, status)
    })
    if (end.is === 'stopped') return ended(run, 0)
    if (end.is === 'refused') {
      const reason = end.otherLog === null ? end.reason : otherLog(settings.table, end.otherLog)
      printNotice(context, `${reason}\nthis row and the rows after it wait: see docs/outbox.md`)
      return ended(run, 1)
    }
  }
}

/**
 * Pins the log that accepted the last row. Another log, such as a restored older backup, may lack rows that are marked
 * as drained.
 */
async function pinLog(sender: DraftSender, session: OutboxSession, table: OutboxTable): Promise<void> {
  const log = await session.newestLog()
  if (log === null) return
  if (sender.access.log !== null && sender.access.log !== log)
    throw new CommandError(otherLog(table, sender.access.log))
  sender.access = { ...sender.access, log }
}

function otherLog({ full }: OutboxTable, log: string): string {
  return `the newest drained row is in another log than ${printable(log)}, to which the publish API belongs; send that log every row with: UPDATE ${full} SET drained_at = NULL WHERE log <> '${printable(log)}'`
}

function ended({ counts }: Run, code: ExitCode): ExitCode {
  counts.report()
  return code
}
