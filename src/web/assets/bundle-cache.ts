import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

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
  const key = keyOf(root)
  const file = key === undefined ? undefined : join(root, CACHE, `${key}.json`)
  const kept = file === undefined ? undefined : read(file)
  if (kept !== undefined) return kept
  const made = await bundle()
  // Sources that were written meanwhile may be in it.
  if (file !== undefined && keyOf(root) === key) keep(file, made)
  return made
}

/**
 * What a bundle can be made of: everything below `src`, and the packages as they are locked, the bundler among them;
 * undefined where one of these is not to be read.
 */
function keyOf(root: string): string | undefined {
  const hash = createHash('sha256')
  try {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    const names = ['package-lock.json', 'tsconfig.json', ...sources.map((name) => join('src', name))]
    for (const name of names.filter((one) => /\.(?:ts|json)$/.test(one)).toSorted()) {
      const body = readFileSync(join(root, name))
      hash.update(`${name} ${body.length}\n`).update(body)
    }
  } catch {
    return undefined
  }
  return hash.digest('hex').slice(0, KEY_CHARS)
}

/** The scripts by their names, in base64. */
type Kept = Readonly<Record<string, string>>

/** All of them stand in one file: it is there whole or not at all, also while another process tidies it away. */
function read(file: string): readonly Script[] | undefined {
  try {
    const kept: Kept = JSON.parse(readFileSync(file, 'utf8'))
    return Object.entries(kept).map(([name, body]) => ({ name, body: Buffer.from(body, 'base64') }))
  } catch {
    return undefined
  }
}

/** What cannot be kept, on a disk that is full or not to be written, is made again. */
function keep(file: string, scripts: readonly Script[]): void {
  const folder = dirname(file)
  const growing = `${file}.${randomUUID()}`
  const kept: Kept = Object.fromEntries(
    scripts.map(({ name, body }) => [name, Buffer.from(body).toString('base64')]),
  )
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(growing, JSON.stringify(kept))
    renameSync(growing, file)
    // Of other sources: nobody will ask for them again.
    for (const name of readdirSync(folder)) {
      if (!file.endsWith(name)) rmSync(join(folder, name), { recursive: true, force: true })
    }
  } catch {
    rmSync(growing, { recursive: true, force: true })
  }
}
