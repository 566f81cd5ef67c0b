import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A relative path to a module, in an import or in the address of a thread. */
const MODULE = /(['"])(\.{1,2}\/[^'"]+?)\.[jt]s\1/g

/**
 * The built files that some files import, directly or not, and these themselves. Paths are below the folder. A `.js` file
 * leads to `.js` files, a `.d.ts` file to `.d.ts` files.
 */
export function reachedFiles(folder: string, from: readonly string[]): readonly string[] {
  const reached = [...from]
  for (const path of reached) {
    const ending = path.endsWith('.d.ts') ? '.d.ts' : '.js'
    for (const [, , name = ''] of readFileSync(join(folder, path), 'utf8').matchAll(MODULE)) {
      const found = `${join(dirname(path), name)}${ending}`
      if (!reached.includes(found) && existsSync(join(folder, found))) reached.push(found)
    }
  }
  return reached
}
