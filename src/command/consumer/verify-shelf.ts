import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Audit } from '../../verify/audit.ts'
import type { Evidence, SavedNote } from '../../verify/saved-checkpoint.ts'
import { asPathError, checkFolder, makeFolder } from '../terminal/given-paths.ts'

/** Checkpoints that a directory may hold. */
const SAVED_MAX = 100_000
const CHECKPOINT = /^[0-9a-f]{16}-\d+\.checkpoint$/

/** A directory in which checkpoints and the keys they were believed by are kept from visit to visit. */
export type VerifyShelf = Readonly<{
  saved(): readonly SavedNote[]
  keysOf(origin: string): readonly string[]
  keep(checkpoint: NonNullable<Audit['keep']>): void
  /** Writes what shows a fork or a rollback to others; gives the folder it is in. */
  keepEvidence(evidence: Evidence): string
}>

export function openVerifyShelf(directory: string): VerifyShelf {
  checkFolder(directory, '--save')
  makeFolder(directory, '--save')
  const at = (name: string): string => join(directory, name)
  return {
    saved() {
      try {
        return readdirSync(directory)
          .filter((name) => CHECKPOINT.test(name))
          .slice(-SAVED_MAX)
          .map((name) => ({ name: at(name), note: readFileSync(at(name)), named: false }))
      } catch (error) {
        throw asPathError(error, '--save')
      }
    },
    keysOf(origin) {
      const file = at(`${nameOf(origin)}.vkeys`)
      return existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : []
    },
    keep({ origin, size, note, vkeys }) {
      writeNew(at(`${nameOf(origin)}-${size}.checkpoint`), note)
      writeWhole(at(`${nameOf(origin)}.vkeys`), vkeys.map((vkey) => `${vkey}\n`).join(''))
    },
    keepEvidence({ origin, name, files }) {
      const folder = at(`${nameOf(origin)}-${name}`)
      makeFolder(folder, '--save')
      for (const [file, bytes] of Object.entries(files)) writeNew(join(folder, file), bytes)
      return folder
    },
  }
}

/** What is kept is never written over: a checkpoint of this size was there, and is the same. */
function writeNew(file: string, bytes: Uint8Array): void {
  if (!existsSync(file)) writeWhole(file, bytes)
}

/** A disk that is full, or an end in between, leaves no half of a file under its name. */
function writeWhole(file: string, bytes: Uint8Array | string): void {
  writeFileSync(`${file}.part`, bytes, { flush: true })
  renameSync(`${file}.part`, file)
}

/** Origins have slashes: files are named by the beginning of their SHA-256. */
function nameOf(origin: string): string {
  return createHash('sha256').update(origin).digest('hex').slice(0, 16)
}
