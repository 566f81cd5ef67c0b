import { lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { HIGH_WATER_FILE } from '../../log/store/high-water.ts'
import { STORE_FILE } from '../../log/store/store.ts'
import { OTHERS } from '../operator/signing-key-file.ts'
import { TOKEN_FILE } from '../operator/token-file.ts'
import { readStart } from '../terminal/option-paths.ts'
import { printable, shellQuoted } from '../terminal/output.ts'
import { formatAge, formatBytes } from '../terminal/rounded-quantity.ts'
import type { World } from '../terminal/world.ts'
import { type Diagnosis, note, ok, warn, wrong } from './diagnosis.ts'

/** Bits of a file mode that let other users write. */
const OTHERS_WRITE = 0o022
/** Bytes of the largest file that may be a key. */
const KEY_BYTES_MAX = 16 * 1024
/** Files of a directory that are looked at, at most. */
const FILES_MAX = 1_000

/** Modes of the files: other users must not write the store or read the token. */
export function modesOf(data: string): readonly Diagnosis[] {
  const files: readonly (readonly [path: string, forbidden: number, why: string])[] = [
    [data, OTHERS_WRITE, 'other users may write into it: chmod go-w'],
    [join(data, STORE_FILE), OTHERS_WRITE, 'other users may change history: chmod go-w'],
    [join(data, HIGH_WATER_FILE), OTHERS_WRITE, 'other users may change the mark: chmod go-w'],
    [join(data, TOKEN_FILE), OTHERS, 'other users may read it and publish: chmod 600, then change the token'],
  ]
  const found = files.flatMap(([path, forbidden, why]) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    return mode === undefined || (mode & forbidden) === 0 ? [] : [wrong('modes', `${path}: ${why}`)]
  })
  const parent = dirname(resolve(data))
  const { mode } = statSync(parent)
  // With the sticky bit, as in a temporary folder, only the owner of a file may rename it.
  const isShared = (mode & OTHERS_WRITE) !== 0 && (mode & 0o1000) === 0
  const above = isShared
    ? [warn('modes', `${parent}: other users may replace the data directory: chmod go-w`)]
    : []
  return found.length + above.length > 0
    ? [...found, ...above]
    : [ok('modes', 'only the owner may change the files')]
}

/** Private keys among the files of a folder. Every copy of the folder could sign with them. */
export function keysInside(folder: string): readonly Diagnosis[] {
  return filesIn(folder, (name) => name !== STORE_FILE).flatMap(({ path, size }) => {
    if (size > KEY_BYTES_MAX || !isPrivateKey(path)) return []
    const says = `${printable(path)} is a private key beside the log: move it away, or every copy of the folder can sign`
    return [wrong('key', says)]
  })
}

function isPrivateKey(path: string): boolean {
  try {
    return /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/.test(readStart(path, KEY_BYTES_MAX))
  } catch {
    // A file that this user may not read is no key that the service uses.
    return false
  }
}

/** Stores that an upgrade or a restore has kept, which only take space now. */
export function keptStores(data: string, { program, now }: World): readonly Diagnosis[] {
  return filesIn(data, (name) => /^daybook\.db\.(?:schema-|replaced-)/.test(name)).map(
    ({ path, size, mtimeMs }) => {
      const by = path.includes('.db.schema-') ? 'an upgrade' : 'a restore'
      const remove =
        by === 'an upgrade' ? `${program} upgrade --data ${shellQuoted(data)} --remove-old` : 'rm'
      const remedy = `remove it when all is well, with ${remove}`
      const age = formatAge(now() - mtimeMs)
      return note('kept store', `${path} was kept by ${by}: ${formatBytes(size)}, ${age} old; ${remedy}`)
    },
  )
}

/** Ordinary files of a folder, never what a link points to. */
function filesIn(
  folder: string,
  accepts: (name: string) => boolean,
): readonly Readonly<{ path: string; size: number; mtimeMs: number }>[] {
  return readdirSync(folder)
    .filter(accepts)
    .slice(0, FILES_MAX)
    .flatMap((name) => {
      const path = join(folder, name)
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found?.isFile() === true ? [{ path, size: found.size, mtimeMs: found.mtimeMs }] : []
    })
}
