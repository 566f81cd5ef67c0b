import { existsSync } from 'node:fs'
import { type Ms, SECOND_MS } from '../../protocol/moment.ts'
import { pause } from '../terminal/pause.ts'
import { CommandError, type World } from '../terminal/world.ts'

/** Waits for a second whose name is free. More are needed only while the clock is set back again and again. */
const WAITS_MAX = 3

/** A path that nothing has, and the moment that it names. */
type NewName = Readonly<{ at: Ms; path: string }>

/**
 * Gives a file the name of the present second. Waits for the next second while a file of that name exists.
 *
 * @throws {CommandError} when the clock stands still, or, with the words `stopped`, when the command is stopped
 */
export async function newName(nameAt: (at: Ms) => string, stopped: string, world: World): Promise<NewName> {
  for (let waits = 0; ; waits += 1) {
    const at = world.now()
    const path = nameAt(at)
    if (!existsSync(path)) return { at, path }
    if (waits === WAITS_MAX) throw new CommandError(1, `${path} exists already, and the clock does not go on`)
    await pause(SECOND_MS - (at % SECOND_MS), world.stop)
    if (world.stop.aborted) throw new CommandError(1, stopped)
  }
}
