import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A script's plain name and its bytes. */
export type Script = Readonly<{ name: string; body: Uint8Array }>

/** Below the root of a clone: where tools keep what they can make again. */
const CACHE = join('node_modules', '.cache', 'daybook-islands')
const KEY_CHARS = 32

/**
 * The scripts that were bundled of the very same sources, by the same bundler; else they are bundled, and kept for the
 * next process. A bundling takes seconds of a processor, and each process of a clone would do it anew.
 */
export async function cached(
  root: string,
  bundle: () => Promise<readonly Script[]>,
): Promise<readonly Script[]> {
  const folder = join(root, CACHE, keyOf(root))
  const kept = read(folder)
  if (kept !== undefined) return kept
  const made = await bundle()
  keep(folder, made)
  return made
}

/** What a bundle can be made of: everything below `src`, and the packages as they are locked, the bundler among them. */
function keyOf(root: string): string {
  const hash = createHash('sha256')
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const names = ['package-lock.json', 'tsconfig.json', ...sources.map((name) => join('src', name))]
  for (const name of names.filter((one) => /\.(?:ts|json)$/.test(one)).toSorted()) {
    const body = readFileSync(join(root, name))
    hash.update(`${name} ${body.length}\n`).update(body)
  }
  return hash.digest('hex').slice(0, KEY_CHARS)
}

/** A folder comes into being whole, by a rename: what is there is all of it. */
function read(folder: string): readonly Script[] | undefined {
  if (!existsSync(folder)) return undefined
  try {
    return readdirSync(folder).map((name) => ({ name, body: readFileSync(join(folder, name)) }))
  } catch {
    // Another process has tidied it away in between.
    return undefined
  }
}

/** What cannot be kept, on a disk that is full or not to be written, is made again. */
function keep(folder: string, scripts: readonly Script[]): void {
  const beside = join(folder, '..')
  const growing = `${folder}.${randomUUID()}`
  try {
    mkdirSync(growing, { recursive: true })
    for (const { name, body } of scripts) writeFileSync(join(growing, name), body)
    renameSync(growing, folder)
    // Of other sources: nobody will ask for them again.
    for (const name of readdirSync(beside)) {
      if (!folder.endsWith(name) && !name.includes('.')) rmSync(join(beside, name), { recursive: true })
    }
  } catch {
    rmSync(growing, { recursive: true, force: true })
  }
}
