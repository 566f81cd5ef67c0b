import { type BigIntStats, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { renameDurably } from '../store/durable-rename.ts'
import { formatSealed, parseSealed } from '../store/sealed-json.ts'
import type { Witnessed } from '../store/reader.ts'

/**
 * Witnessed file: the cosignatures of the log's witnesses, as JSON beside the store. The feeder of a log or a mirror
 * writes it whole, and every thread reads it. It contains its digest, which reveals damage. A backup omits it, because
 * witnesses can be asked again.
 */
const WITNESSED_FILE = 'witnessed.json'
/** Bytes of the longest file that is read: the longest note twice, and sixteen witnesses with ML-DSA-44 keys. */
const FILE_BYTES_MAX = 1_048_576

/** Writes the file durably, over the one before. */
export function keepWitnessed(dataDirectory: string, witnessed: Witnessed): void {
  const path = join(dataDirectory, WITNESSED_FILE)
  const making = `${path}.making`
  writeFileSync(making, formatSealed(witnessed), { mode: 0o600 })
  renameDurably(making, path)
}

/** Removes the file when a log has no witnesses any more. */
export function forgetWitnessed(dataDirectory: string): void {
  rmSync(join(dataDirectory, WITNESSED_FILE), { force: true })
}

/**
 * Opens a reader of the file, which reads it again when it was replaced. Null without a file, and for a damaged one.
 */
export function openWitnessedFile(dataDirectory: string): () => Witnessed | null {
  const path = join(dataDirectory, WITNESSED_FILE)
  let known = ''
  let content: Witnessed | null = null
  return () => {
    const found = statOf(path)
    const version = versionOf(found)
    if (version !== known) {
      content = found === undefined || found.size > FILE_BYTES_MAX ? null : readWitnessed(path)
      known = version
    }
    return content
  }
}

/** Opens the version of the file, which changes when it is replaced; empty without a file. */
export function openWitnessedVersion(dataDirectory: string): () => string {
  const path = join(dataDirectory, WITNESSED_FILE)
  return () => versionOf(statOf(path))
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { throwIfNoEntry: false, bigint: true })
}

function versionOf(found: BigIntStats | undefined): string {
  return found === undefined ? '' : `${found.ino} ${found.mtimeNs} ${found.size}`
}

function readWitnessed(path: string): Witnessed | null {
  try {
    const json = parseSealed(readFileSync(path))
    return isWitnessed(json) ? json : null
  } catch {
    // The file was removed meanwhile, or another program has changed it: witnesses are asked again.
    return null
  }
}

const SHAPE = z.object({
  quorum: z.number(),
  witnesses: z.array(z.unknown()),
  newest: z.object({ seq: z.number(), atMs: z.number(), note: z.string() }).nullable(),
})

function isWitnessed(json: unknown): json is Witnessed {
  return SHAPE.safeParse(json).success
}
