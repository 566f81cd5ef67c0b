import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolderDurably, syncDirectory } from '../../log/store/durable-rename.ts'
import { formatCompact, type Ms } from '../../protocol/moment.ts'

/**
 * Contradiction between the origin and its earlier proofs, or within its answers. `evidence` is a folder in
 * `DIR/evidence` with the files that prove it.
 */
export type Contradicted = Readonly<{ is: 'contradicted'; reason: string; evidence: string }>

/** Files, by name, that show a contradiction to others. */
export type EvidenceFiles = Readonly<Record<string, Uint8Array | string>>

/** Error for an origin that contradicts its earlier proofs or its other answers. The mirror must stop. */
export class ContradictionError extends Error {
  override readonly name = 'ContradictionError'
  readonly files: EvidenceFiles

  constructor(reason: string, files: EvidenceFiles, options?: ErrorOptions) {
    super(reason, options)
    this.files = files
  }
}

/** Folder of evidence in a data directory. */
const EVIDENCE = 'evidence'
/** Most folders of one moment, so that none replaces another. */
const FOLDERS_MAX = 100

/** Stores the files of a contradiction in a new folder of the data directory. Nothing ever removes them. */
export function keepEvidence(dataDirectory: string, error: ContradictionError, now: Ms): Contradicted {
  const parent = join(dataDirectory, EVIDENCE)
  makeFolderDurably(parent)
  const folder = newFolder(join(parent, formatCompact(now)))
  try {
    for (const [name, content] of Object.entries(error.files)) {
      writeFileSync(join(folder, name), content, { flush: true })
    }
    writeFileSync(join(folder, 'reason.txt'), `${error.message}\n`, { flush: true })
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    throw cause
  }
  syncDirectory(folder)
  syncDirectory(parent)
  return { is: 'contradicted', reason: error.message, evidence: folder }
}

function newFolder(path: string): string {
  for (let number = 1; ; number += 1) {
    const folder = number === 1 ? path : `${path}-${number}`
    try {
      mkdirSync(folder)
      return folder
    } catch (error) {
      if (number >= FOLDERS_MAX || !(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
        throw error
      }
    }
  }
}
