import type { Readable } from 'node:stream'
import { openDraftCounts } from '../command/operator/draft-counts.ts'
import type { DoorAccess } from '../command/operator/publish-door.ts'
import { CommandError, type ExitCode, tell, type World } from '../command/terminal/world.ts'
import { type DraftSender, sendRows } from './draft-sender.ts'
import { inputLines } from './input-lines.ts'
import { openTroubleReport } from './trouble-report.ts'

/**
 * Publishes the lines of an input that may never end, as they arrive and in order. `name` is the input's name in messages. Waits without end for a door that is away: the
 * program that writes into a pipe could not go on after its end. Exit code 1 when a draft is refused, and when one is never
 * published because it failed or was dropped.
 */
export async function publishInput(
  input: Readable,
  name: string,
  door: DoorAccess,
  world: World,
): Promise<ExitCode> {
  const sender: DraftSender = { door, trouble: openTroubleReport(world) }
  const counts = openDraftCounts(world, world.stdout)
  let last = 0
  try {
    for await (const lines of inputLines(input, name, world.stop)) {
      const end = await sendRows(sender, lines, async (taken, receipts) => {
        taken.forEach(({ name: line }, index) => counts.add(line, receipts[index]?.status ?? ''))
        last = taken.at(-1)?.number ?? last
      })
      if (end.is === 'refused') {
        tell(world, `${name}, ${end.reason}`)
        return 1
      }
      counts.reportChange()
    }
  } finally {
    counts.report()
  }
  if (world.stop.aborted) {
    throw new CommandError(
      1,
      `stopped after line ${last}; to continue, send the input again: what is published already is skipped`,
    )
  }
  return counts.ended() > 0 ? 1 : 0
}
