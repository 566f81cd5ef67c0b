import { existsSync } from 'node:fs'
import { LockedError } from '../../log/store/lock.ts'
import { isFull, isOfSqlite } from '../../log/store/sqlite-error.ts'
import { type Ms, SECOND_MS } from '../../protocol/moment.ts'
import { type CommandContext, pause } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { asPathError } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'

/** Most waits for a second whose name is free. More are needed only if the clock is repeatedly set back. */
const WAITS_MAX = 3

/** Free path, and the moment in its name. */
type NewName = Readonly<{ at: Ms; path: string }>

/**
 * Gives a file the name of the present second. Waits for the next second while a file of that name exists.
 *
 * @throws {CommandError} when the clock stands still, or, with the words `stopped`, when the command is stopped
 */
export async function newName(
  nameAt: (at: Ms) => string,
  stopped: string,
  context: CommandContext,
): Promise<NewName> {
  for (let waits = 0; ; waits += 1) {
    const at = context.now()
    const path = nameAt(at)
    if (!existsSync(path)) return { at, path }
    if (waits === WAITS_MAX) throw new CommandError(`${path} exists already, and the clock stands still`)
    await pause(SECOND_MS - (at % SECOND_MS), context.stop)
    if (context.stop.aborted) throw new CommandError(stopped)
  }
}

/** Error text for a failed copy, and the option whose path an error may name. */
type FailedCopy = Readonly<{ said: string; option: string; path: string }>

/**
 * Error for the user. SQLite does not tell which of the two files failed; only a full disk certainly means the copy.
 */
export function asCopyError(error: unknown, { said, option, path }: FailedCopy): unknown {
  if (error instanceof LockedError) return new CommandError(error.message, { cause: error })
  if (!isOfSqlite(error)) return asPathError(error, option)
  const reason = isFull(error) ? `the disk of ${shellQuoted(path)} is full` : error.message
  return new CommandError(`${said}: ${reason}`, { cause: error })
}
