import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytes } from '../../log/store/disk-probe.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { StoreError } from '../../log/store/store.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { piecesOf } from '../../client/body.ts'
import type { Month } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { isCutOff, type Origin, retried } from '../origin/open-origin.ts'

/** Downloaded month file. `lastSeq` is the last event of an open month's file; null for a closed month. */
export type DownloadedFile = Readonly<{ path: string; place: string; lastSeq: number | null }>

/** Most bytes of a month file. */
const FILE_BYTES_MAX: number = 64 * 1024 ** 3
/** Most requests for a file that is cut or has other bytes than its manifest says. */
const FILE_ATTEMPTS_MAX = 4
const RETRY_MS = 1_000
/** Free disk that a download leaves. */
const FREE_BYTES_LEFT: number = 64 * 1024 * 1024

const NAMES: Readonly<Record<MonthFile, string>> = { events: 'jsonl.gz', details: 'details.jsonl.gz' }

/**
 * Downloads a file of a month into a folder, and compares its size and SHA-256 with the manifest's (null in an open
 * month). A cut or different file is requested again. Throws a `WrongError` when it differs each time.
 */
export async function downloadMonth(
  origin: Origin,
  folder: string,
  { month, file, expected }: Readonly<{ month: Month; file: MonthFile; expected: Digest | null }>,
  signal: AbortSignal,
): Promise<DownloadedFile> {
  mkdirSync(folder, { recursive: true })
  const name = `${month}.${NAMES[file]}`
  const place = `archive/${name}`
  const path = join(folder, name)
  const bytesMax = expected?.bytes ?? FILE_BYTES_MAX
  if (expected !== null && freeBytes(folder) < expected.bytes + FREE_BYTES_LEFT)
    throw new StoreError(`${folder}: too little free disk for ${name}: make room and start again`)
  const download = async (): Promise<DownloadedFile> => {
    const answer = await origin.file(place, { bytesMax }, signal)
    const found = await save(answer.stream, path, folder)
    if (expected !== null) demandDigest(place, found, expected)
    const lastSeq = Number(answer.headers.get('daybook-last-seq') ?? Number.NaN)
    return { path, place, lastSeq: Number.isSafeInteger(lastSeq) ? lastSeq : null }
  }
  const { around } = origin
  return await retried(download, {
    attemptsMax: FILE_ATTEMPTS_MAX,
    waitMs: RETRY_MS,
    mayPass: mayBeTorn,
    around,
    signal,
  })
}

function mayBeTorn(error: unknown): boolean {
  const isTooLong = error instanceof DaybookError && error.code === 'too-large'
  return error instanceof WrongError || isTooLong || isCutOff(error)
}

function demandDigest(place: string, found: Digest, expected: Digest): void {
  if (found.bytes !== expected.bytes) throw new WrongError(place, 'its size is not that of its manifest')
  if (found.sha256 !== expected.sha256) throw new WrongError(place, 'its SHA-256 is not that of its manifest')
}

/** Bytes between two checks of the free disk space. */
const LOOK_BYTES: number = 16 * 1024 * 1024

async function save(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  path: string,
  folder: string,
): Promise<Digest> {
  rmSync(path, { force: true })
  await using handle = await open(path, 'w', 0o600)
  const hash = createHash('sha256')
  let bytes = 0
  let looked = 0
  for await (const piece of piecesOf(stream)) {
    hash.update(piece)
    await handle.appendFile(piece)
    bytes += piece.length
    if (bytes - looked < LOOK_BYTES) continue
    looked = bytes
    if (freeBytes(folder) < FREE_BYTES_LEFT)
      throw new StoreError(`${folder}: the disk is nearly full: make room and start again`)
  }
  return { bytes, sha256: hash.digest('hex') }
}
