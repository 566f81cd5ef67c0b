import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from '../../log/store/durable-rename.ts'

/** Folder of evidence in the directory of a witness. */
const EVIDENCE_FOLDER = 'evidence'
/** Most contradictions of one log that are kept: one log must not use up the room of another. */
export const CONTRADICTIONS_MAX = 8
/** Folder of a contradiction that is being written. A crash may leave it. */
const MAKING = 'making'
/** Hex digits of the hash of an origin in the name of a folder. */
const HASH_DIGITS = 16

/** Two validly signed checkpoints of one origin and size whose roots differ, as notes. */
type Contradiction = Readonly<{ originHash: string; size: number; first: string; second: string }>

/** Number of contradictions that a witness keeps. */
export function countEvidence(dataDirectory: string): number {
  return foldersOf(join(dataDirectory, EVIDENCE_FOLDER)).length
}

/**
 * Keeps a contradiction in a new folder. Returns its path; null when one of this log and size is kept already, or as many
 * of this log as may be. Nothing ever removes them.
 */
export function keepContradiction(dataDirectory: string, found: Contradiction): string | null {
  const { originHash, size, first, second } = found
  const parent = join(dataDirectory, EVIDENCE_FOLDER)
  const ofLog = `${originHash.slice(0, HASH_DIGITS)}-`
  const folder = join(parent, `${ofLog}${size}`)
  const kept = foldersOf(parent).filter((name) => name.startsWith(ofLog))
  if (existsSync(folder) || kept.length >= CONTRADICTIONS_MAX) return null
  const making = join(parent, MAKING)
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  writeFileSync(join(making, 'first.note'), first, { flush: true })
  writeFileSync(join(making, 'second.note'), second, { flush: true })
  syncDirectory(making)
  renameSync(making, folder)
  for (const path of [parent, dataDirectory]) syncDirectory(path)
  return folder
}

function foldersOf(parent: string): readonly string[] {
  return existsSync(parent) ? readdirSync(parent).filter((name) => name !== MAKING) : []
}
