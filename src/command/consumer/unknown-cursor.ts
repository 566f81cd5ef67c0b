import type { Daybook } from '../../client/daybook.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { LogKeys } from '../../protocol/endpoints/file-endpoints.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { printable } from '../terminal/output.ts'

/** Cursor that a service's log does not have. */
type UnknownCursor = Readonly<{
  /** Id of the log that it belongs to; null where only the user knows it. */
  log: string | null
  seq: number
  url: string
  /** Arguments that continue after a seq, to follow the program's name. */
  resume(seq: number): string
}>

/**
 * Error for a cursor that a service's log does not have. Gives the reason and the next step. It knows only what the
 * service publishes: the former logs that its log continues after an accepted loss.
 */
export async function unknownCursorError(
  cursor: UnknownCursor,
  daybook: Pick<Daybook, 'logKeys' | 'status'>,
  { stop: signal, program }: Pick<CommandContext, 'stop' | 'program'>,
): Promise<CommandError> {
  const keys = await daybook.logKeys({ signal })
  const { seq: head } = (await daybook.status({ signal })).head
  const { log, seq, url } = cursor
  const resume = (at: number): string => `${program} ${cursor.resume(at)}`
  const keptSize = keptSizeOf(keys, log)
  const Kind = log === null ? UsageError : CommandError
  const verify = `${program} verify ${printable(url)}`
  if (log === keys.logId) {
    const message = `seq ${seq} was read from this log, but its head is now ${head}: this node is behind, or the log lost events and its operator has not said so. Run ${verify} --save DIR to compare the log with your saved checkpoints. The cursor is unchanged`
    return new CommandError(message)
  }
  if (keptSize === null) {
    const message =
      log === null
        ? `seq ${seq} is ahead of the head of this log, ${head}: it belongs to another log, or to a node that is further ahead. Leave it out to begin at the head`
        : `the cursor belongs to another log, and this service does not continue that log: seq ${seq} means nothing here. Run ${verify}, then begin again: ${resume(0)}`
    return new Kind(message)
  }
  const loss = `the service lost published events, and its operator accepted the loss: a new log, whose head is ${head}, continues from the first ${formatCount(keptSize, 'event')}`
  const effect =
    seq <= keptSize
      ? `The events up to seq ${seq} are in the new log`
      : `The events of seq ${keptSize + 1} to ${seq} that you read are gone, and other events have their numbers`
  const explanation = log === null ? `if seq ${seq} is from before a loss: ${loss}` : loss
  const action = `Run ${verify} --save DIR to compare the log with your saved checkpoints, then continue with: ${resume(Math.min(seq, keptSize))}`
  return new Kind(`${explanation}. ${effect}. ${action}`)
}

/**
 * Number of events of a former log that are in the current one; null when it does not continue that log. A later loss
 * also shortens the earlier logs, so the smallest size counts.
 */
function keptSizeOf({ formerLogs }: LogKeys, log: string | null): number | null {
  const first = log === null ? formerLogs.length - 1 : formerLogs.findIndex(({ id }) => id === log)
  const sizes = formerLogs.slice(Math.max(first, 0)).map(({ size }) => size)
  return first < 0 ? null : Math.min(...sizes)
}
