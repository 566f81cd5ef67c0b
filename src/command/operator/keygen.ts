import { makeKeyFile, readKeyFile, vkeyOf } from './signing-key-file.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError, tell } from '../terminal/world.ts'

export type KeygenOptions = Readonly<{ to?: string; show?: string; origin: string }>

/** Makes a signing key, or reads one, and prints the vkey by which others know what it signs for a log. */
export function keygen({ to, show, origin }: KeygenOptions, world: World): ExitCode {
  if ((to === undefined) === (show === undefined)) {
    throw new CommandError(2, 'keygen takes one of --to, for a new key, and --show, for one that is there')
  }
  const key = to === undefined ? readKeyFile(show ?? '', world) : makeKeyFile(to, '--to')
  if (to !== undefined) tell(world, `${to} holds the new key: keep a copy of it where no server is`)
  world.stdout.write(`${vkeyOf(key, origin)}\n`)
  return 0
}
