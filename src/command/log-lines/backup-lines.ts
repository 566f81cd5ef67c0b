import { readLastBackup } from '../../log/backup/last-backup.ts'
import type { LogLines } from './log-lines.ts'

/** Milliseconds between two looks for a new backup. */
const LOOK_MS = 60_000

/** Writes a line about each backup of a data directory. Another process makes them, so the file `last-backup` tells. */
export function watchBackups(data: string, lines: LogLines, everyMs: number = LOOK_MS): Disposable {
  let known = readLastBackup(data)?.at
  const looking = setInterval(() => {
    const last = readLastBackup(data)
    if (last === null || last.at === known) return
    known = last.at
    lines.say('backed-up', { events: last.events, ms: last.verifiedAt - last.at })
  }, everyMs).unref()
  return { [Symbol.dispose]: () => clearInterval(looking) }
}
