import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const CHECKSUMS = 'SHA256SUMS'

/** Hash of a file in hexadecimal. */
export function hashOfFile(path: string, algorithm: 'sha256' | 'sha512'): string {
  return createHash(algorithm).update(readFileSync(path)).digest('hex')
}

/** Writes `SHA256SUMS` of files in a folder, in the form of `sha256sum`, sorted by name. */
export function writeChecksums(folder: string, files: readonly string[]): void {
  const lines = files.toSorted().map((file) => `${hashOfFile(join(folder, file), 'sha256')}  ${file}\n`)
  writeFileSync(join(folder, CHECKSUMS), lines.join(''))
}
