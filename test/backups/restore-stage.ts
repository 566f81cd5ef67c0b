import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { restore } from '../../src/command/backups/restore-command.ts'
import { makeLog, runBackup, runCommand } from '../story/damaged-log.ts'

type Ended = Awaited<ReturnType<typeof runCommand>>

/** Restores a backup in this process. */
export function runRestore(
  from: string,
  data: string,
  acceptLoss = false,
  signingKeyFile?: readonly string[],
): Promise<Ended> {
  return runCommand((context) => restore({ from, data, signingKeyFile, acceptLoss }, context))
}

/** A log of ten events with a folder of one backup, and the path of the backup. */
export async function backedUp(
  data: string,
  path: string,
): Promise<Readonly<{ backups: string; backup: string }>> {
  makeLog(data, [3, 10])
  const backups = join(path, 'backups')
  const { said } = await runBackup(data, `${backups}/`)
  return { backups, backup: said.split(' holds ')[0] ?? '' }
}

/** Content of each file of a directory, without the lock and what SQLite makes for a reader. */
export function filesOf(folder: string): readonly (readonly [name: string, hex: string])[] {
  return readdirSync(folder)
    .filter((name) => !/^lock$|-(?:shm|wal)$/.test(name))
    .map((name) => [name, readFileSync(join(folder, name)).toString('hex')])
}
