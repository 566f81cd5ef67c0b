import type { Readable } from 'node:stream'
import type { DoorAccess } from '../operator/publish-door.ts'
import { print, printable } from '../terminal/output.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'
import { openDraftCounts } from '../operator/draft-counts.ts'
import type { DraftSender } from './draft-sender.ts'
import { sendRows } from './draft-sender.ts'
import type { FilePlace, SavedPlace } from './follow-cursor.ts'
import { readPlace, savePlace } from './follow-cursor.ts'
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
  const from = cursor === null ? null : readPlace(cursor)
  const sender: DraftSender = { door: pinned(door, from), trouble: openTroubleReport(world) }
  const counts = openDraftCounts(world, world.stdout)
  let keptLog = from?.log ?? null
  const save = (place: FilePlace): void => {
    if (cursor === null) return
    keptLog = sender.door.log
    savePlace(cursor, { ...place, log: keptLog })
  }
  for await (const lines of followFile({ path, from, cursor, onNext: save }, world)) {
    const end = await sendRows(sender, lines, async (taken, receipts) => {
      taken.forEach(({ name }, index) => counts.add(name, receipts[index]?.status ?? ''))
      const last = taken.at(-1)
      if (last !== undefined) save(last.place())
    })
    if (end.is === 'refused') {
      const isOther = keptLog !== null && end.otherLog !== null
      tell(world, isOther ? otherLogThanKept(end.otherLog) : `${path}, ${end.reason}`)
      counts.report()
      return 1
    }
    counts.reportChange()
  }
  counts.report()
  return 0
}

/**
 * The door, pinned to the log that has the lines before the place. Another log may lack them, as after a restore of an
 * older backup.
 */
function pinned(door: DoorAccess, from: SavedPlace | null): DoorAccess {
  const log = from?.log ?? null
  if (log === null) return door
  if (door.log !== null && door.log !== log) throw new CommandError(1, otherLogThanKept(door.log))
  return { ...door, log }
}

function otherLogThanKept(log: string): string {
  return `the lines before the place of the cursor file are in another log than ${printable(log)}, to which the door belongs; docs/outbox.md says how to send that log every line`
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
