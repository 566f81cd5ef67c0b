import { createHash, hash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Month, parseMonth } from '../../protocol/moment.ts'
import { PARQUET_PIECE_BYTES, type ParquetFile } from '../store/reader.ts'

/** Metadata of a month's Parquet file, by key. */
export type ParquetFacts = Readonly<Record<string, string>>

const NAME = /^(\d{4}-\d{2})\.([0-9a-f]{16})\.([0-9a-f]{64})\.parquet$/

/** Suffix of a file that is being made. */
const MAKING = '.making'

/**
 * Folder of the Parquet files in a data directory. Everything in it is made from the log and may be removed at any time.
 * The name of a file has its month, a digest of its facts, and the digest of its content.
 */
export function parquetFolder(dataDirectory: string): string {
  return join(dataDirectory, 'parquet')
}

/** Path of the file of a month while it is made. Its folder exists. */
export function makingPath(folder: string, month: Month): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(folder, `${month}${MAKING}`)
}

/** Path of a finished file. */
export function parquetPath(folder: string, month: Month, facts: ParquetFacts, sha256: string): string {
  return join(folder, `${month}.${factsDigest(facts)}.${sha256}.parquet`)
}

/** Whether the folder has a file of these facts, by its name. */
export function isKept(folder: string, month: Month, facts: ParquetFacts): boolean {
  return namesIn(folder).some((name) => name.startsWith(`${month}.${factsDigest(facts)}.`))
}

/**
 * The kept file of these facts, read whole. Removes files of the month with other facts, and those whose content is not
 * that of their name; `onDamaged` is called for the latter.
 */
export function readKept(
  folder: string,
  month: Month,
  facts: ParquetFacts,
  onDamaged: (path: string) => void,
): ParquetFile | undefined {
  let kept: ParquetFile | undefined
  for (const name of namesIn(folder)) {
    const [, of, digest, sha256 = ''] = NAME.exec(name) ?? []
    if (of !== month) continue
    const path = join(folder, name)
    if (digest === factsDigest(facts) && kept === undefined) {
      const sums = sumsOf(path)
      if (sums?.sha256 === sha256) {
        kept = { month, path, ...sums }
        continue
      }
      onDamaged(path)
    }
    rmSync(path, { force: true, recursive: true })
  }
  return kept
}

/** Removes unfinished files, and files of other months or facts than the given ones. Leaves files of other names. */
export function removeOutdated(folder: string, wanted: ReadonlyMap<Month, ParquetFacts>): void {
  for (const name of namesIn(folder)) {
    const [, text = '', digest] = NAME.exec(name) ?? []
    const month = parseMonth(text)
    const facts = month && wanted.get(month)
    const isOutdated = digest !== undefined && (facts === undefined || factsDigest(facts) !== digest)
    if (isOutdated || name.endsWith(MAKING)) rmSync(join(folder, name), { force: true, recursive: true })
  }
}

/** Removes unfinished files. Nothing may be making one. */
export function removeMakingParquet(folder: string): void {
  for (const name of namesIn(folder))
    if (name.endsWith(MAKING)) rmSync(join(folder, name), { force: true, recursive: true })
}

/** Digest of a file's facts, for its name. */
function factsDigest(facts: ParquetFacts): string {
  return hash('sha256', JSON.stringify(facts)).slice(0, 16)
}

/** Names in a folder; empty without the folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Size and digests of bytes that are added in order. */
type RunningSums = Readonly<{
  add(bytes: Uint8Array): void
  end(): Pick<ParquetFile, 'bytes' | 'sha256' | 'crcs'>
}>

/** Opens the digests of a file. */
export function openSums(): RunningSums {
  const sha256 = createHash('sha256')
  const crcs: number[] = []
  let bytes = 0
  return {
    add(added) {
      sha256.update(added)
      for (let at = 0; at < added.length;) {
        const inPiece = bytes % PARQUET_PIECE_BYTES
        const part = added.subarray(at, at + PARQUET_PIECE_BYTES - inPiece)
        crcs[Math.floor(bytes / PARQUET_PIECE_BYTES)] = crc32(part, inPiece === 0 ? 0 : crcs.at(-1))
        at += part.length
        bytes += part.length
      }
    },
    end: () => ({ bytes, sha256: sha256.digest('hex'), crcs: Uint32Array.from(crcs) }),
  }
}

const READ_BYTES = 1024 * 1024

/** Reads a file whole; undefined when it cannot be read. */
function sumsOf(path: string): Pick<ParquetFile, 'bytes' | 'sha256' | 'crcs'> | undefined {
  const buffer = new Uint8Array(READ_BYTES)
  const sums = openSums()
  try {
    const file = openSync(path, 'r')
    try {
      for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer))
        sums.add(buffer.subarray(0, read))
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
  return sums.end()
}
