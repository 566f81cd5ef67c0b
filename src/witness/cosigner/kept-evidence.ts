import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from '../../log/store/durable-rename.ts'

/** Folder of evidence in the directory of a witness. */
const EVIDENCE_FOLDER = 'evidence'
/** Most contradictions that are kept, of all logs. */
export const CONTRADICTIONS_MAX = 64

/** Two validly signed checkpoints of one origin and size whose roots differ, as notes. */
type Contradiction = Readonly<{ originHash: string; size: number; first: string; second: string }>

/** Number of contradictions that a witness keeps. */
export function countEvidence(dataDirectory: string): number {
  const folder = join(dataDirectory, EVIDENCE_FOLDER)
  return existsSync(folder) ? readdirSync(folder).length : 0
}

/**
 * Keeps a contradiction in a new folder. Returns its path; null when one of this log and size is kept already, or as many
 * as may be. Nothing ever removes them.
 */
export function keepContradiction(dataDirectory: string, found: Contradiction): string | null {
  const { originHash, size, first, second } = found
  const parent = join(dataDirectory, EVIDENCE_FOLDER)
  const folder = join(parent, `${originHash.slice(0, 16)}-${size}`)
  if (existsSync(folder) || countEvidence(dataDirectory) >= CONTRADICTIONS_MAX) return null
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(join(folder, 'first.note'), first, { flush: true })
    writeFileSync(join(folder, 'second.note'), second, { flush: true })
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    throw cause
  }
  for (const path of [folder, parent, dataDirectory]) syncDirectory(path)
  return folder
}
