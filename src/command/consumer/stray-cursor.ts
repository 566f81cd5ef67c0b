import type { Daybook } from '../../client/daybook.ts'
import type { LogKeys } from '../../protocol/resources.ts'
import { harmless } from '../terminal/output.ts'
import type { World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** A place at which the log of a service has nothing. */
type StrayCursor = Readonly<{
  /** The log that it is of; null where only the user knows it. */
  log: string | null
  seq: number
  url: string
  /** The command that goes on after a seq. */
  resume(seq: number): string
}>

/**
 * What a cursor means that a service's log does not have, and what can be done. Only what the service says of itself is
 * known: which logs its own goes on from, where its operator restored an older copy and accepted what was lost.
 */
export async function strayCursor(
  cursor: StrayCursor,
  daybook: Pick<Daybook, 'logKeys' | 'status'>,
  { stop: signal }: Pick<World, 'stop'>,
): Promise<CommandError> {
  const keys = await daybook.logKeys({ signal })
  const { seq: head } = (await daybook.status({ signal })).head
  const { log, seq, url, resume } = cursor
  const kept = keptOf(keys, log)
  const verify = `daybook verify ${harmless(url)}`
  if (log === keys.logId) {
    const says = `seq ${seq} is ahead of the head of this log, ${head}, though it was read from it: this node is behind, or the log lost events and nobody says so. ${verify} --save DIR compares it with what you saved of it; the cursor is kept`
    return new CommandError(1, says)
  }
  if (kept === null) {
    const says =
      log === null
        ? `seq ${seq} is ahead of the head of this log, ${head}: it comes from another log, or from a node that is further on. Without it reading begins at the head`
        : `the cursor is of another log than this service has, which says nothing of that one: seq ${seq} means nothing here. After ${verify}, begin anew: ${resume(0)}`
    return new CommandError(log === null ? 2 : 1, says)
  }
  const lost = `the service lost events that it had published, and its operator accepted that: it goes on from the first ${kept} of them as another log, whose head is ${head}`
  const gone =
    seq <= kept
      ? `What was read up to seq ${seq} is in it`
      : `What was read of seq ${kept + 1} to ${seq} is gone, and other events take those numbers`
  const means = log === null ? `if seq ${seq} is from before: ${lost}` : lost
  const todo = `After ${verify} --save DIR, which compares it with what you saved, go on with: ${resume(Math.min(seq, kept))}`
  return new CommandError(log === null ? 2 : 1, `${means}. ${gone}. ${todo}`)
}

/**
 * How many events of a former log are in the present one, null when it goes on from no such log. What was lost later is
 * lost of the logs before as well.
 */
function keptOf({ formerLogs }: LogKeys, log: string | null): number | null {
  const first = log === null ? formerLogs.length - 1 : formerLogs.findIndex(({ id }) => id === log)
  const sizes = formerLogs.slice(Math.max(first, 0)).map(({ size }) => size)
  return first < 0 ? null : Math.min(...sizes)
}
