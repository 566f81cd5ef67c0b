import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Source } from './preconditions.ts'
import { outputOf } from './programs.ts'

/** Clones the commit into a new folder, so that no ignored file of the clone gets into a release. */
export function checkOut({ root, commit }: Source, folder: string): void {
  const words = [
    '-c',
    'core.autocrlf=false',
    'clone',
    '--quiet',
    '--depth',
    '1',
    pathToFileURL(root).href,
    folder,
  ]
  outputOf('git', words, { cwd: root })
  const found = outputOf('git', ['rev-parse', 'HEAD'], { cwd: folder }).trim()
  if (found !== commit)
    throw new Error(`the clone has commit ${found} instead of ${commit}: run the release again`)
}

/** Gives a checkout the installed packages of the clone, which are those of its lockfile. */
export function linkModules({ root }: Source, folder: string): void {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}
