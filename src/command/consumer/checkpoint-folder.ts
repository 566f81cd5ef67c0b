import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Audit } from '../../verify/audit.ts'
import type { Evidence, SavedNote } from '../../verify/saved-checkpoint.ts'
import { asPathError, checkFolder, makeFolder } from '../terminal/option-paths.ts'

/** Most checkpoints that are read from a folder. */
const SAVED_MAX = 100_000
const CHECKPOINT = /^[0-9a-f]{16}-\d+\.checkpoint$/

/** Folder that keeps checkpoints, and the keys that they were verified with, between runs. */
export type CheckpointFolder = Readonly<{
  saved(): readonly SavedNote[]
  keysOf(origin: string): readonly string[]
  keep(checkpoint: NonNullable<Audit['keep']>): void
  /** Writes evidence of a fork or a rollback for others, and returns its folder. */
  keepEvidence(evidence: Evidence): string
}>

/** Opens the folder of `--save`, and makes it where it does not exist. */
export function openCheckpointFolder(directory: string): CheckpointFolder {
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
    keep({ origin, notes, vkeys }) {
      for (const { size, note } of notes) writeNew(at(`${nameOf(origin)}-${size}.checkpoint`), note)
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

/** Writes a file unless it exists. A checkpoint of the same name has the same content. */
function writeNew(file: string, bytes: Uint8Array): void {
  if (!existsSync(file)) writeWhole(file, bytes)
}

/** Writes a file under another name first, so that a full disk or a crash leaves no half-written file. */
function writeWhole(file: string, bytes: Uint8Array | string): void {
  writeFileSync(`${file}.part`, bytes, { flush: true })
  renameSync(`${file}.part`, file)
}

/** Name of a log's files: the beginning of the SHA-256 of its origin, which may contain slashes. */
function nameOf(origin: string): string {
  return createHash('sha256').update(origin).digest('hex').slice(0, 16)
}
