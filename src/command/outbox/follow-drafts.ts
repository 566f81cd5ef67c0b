import type { Readable } from 'node:stream'
import type { DoorAccess } from '../operator/publish-door.ts'
import { print } from '../terminal/output.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { tell } from '../terminal/world.ts'
import { openDraftCounts } from '../operator/draft-counts.ts'
import type { DraftSender } from './draft-sender.ts'
import { sendRows } from './draft-sender.ts'
import { savePlace } from './follow-cursor.ts'
import { followFile } from './follow-file.ts'
import { followLines } from './follow-input.ts'
import { openTroubleReport } from './trouble-report.ts'

/**
 * Publishes the lines of a growing file, until a stop. With a cursor file, the next run continues after the last line
 * that the log has taken. Without one it begins at the file's start, and the log skips what it knows.
 */
export async function followDrafts(
  path: string,
  cursor: string | null,
  door: DoorAccess,
  world: World,
): Promise<ExitCode> {
  const sender: DraftSender = { door, trouble: openTroubleReport(world) }
  const counts = openDraftCounts(world, world.stdout)
  for await (const lines of followFile(path, cursor, world)) {
    const end = await sendRows(sender, lines, async (taken, receipts) => {
      taken.forEach(({ name }, index) => counts.add(name, receipts[index]?.status ?? ''))
      const last = taken.at(-1)
      if (cursor !== null && last !== undefined) savePlace(cursor, last.place())
    })
    if (end.is === 'refused') {
      tell(world, `${path}, ${end.reason}`)
      counts.report()
      return 1
    }
    counts.reportChange()
  }
  counts.report()
  return 0
}

/**
 * Publishes the lines of an input, until it ends. Prints the receipt of each draft as a line of JSON, in order, so that
 * the sender knows what it need not send again.
 */
export async function followInput(input: Readable, door: DoorAccess, world: World): Promise<ExitCode> {
  const sender: DraftSender = { door, trouble: openTroubleReport(world) }
  const counts = openDraftCounts(world, world.stderr)
  for await (const lines of followLines(input, world.stop)) {
    const end = await sendRows(sender, lines, async (taken, receipts) => {
      taken.forEach(({ name }, index) => counts.add(name, receipts[index]?.status ?? ''))
      const printed = receipts.map(({ ref, status, seq }) =>
        JSON.stringify({ ref, status, ...(seq !== null && { seq }) }),
      )
      await print(`${printed.join('\n')}\n`, world)
    })
    if (end.is === 'refused') {
      tell(world, `standard input, ${end.reason}`)
      counts.report()
      return 1
    }
    counts.reportChange()
  }
  counts.report()
  return 0
}
