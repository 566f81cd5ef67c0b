import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { type Ask, ATTEMPTS_MAX, type OpenAnswer, waitMsAfter } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { askedCovering } from '../../verify/reading/node-lag.ts'
import { pauseOf } from '../terminal/client.ts'
import { CommandError, type World } from '../terminal/world.ts'

/** Size and digest of a file from its manifest; null while the file still grows. */
export type ExpectedFile = Readonly<{ bytes: number; sha256: string }> | null

/** A file of the archive, and its place in the folder. */
type PulledFile = Readonly<{
  path: string
  file: string
  expected: ExpectedFile
  /** Seq of an event that the answering node must have: another node may be behind. */
  covers: number
}>

/** Bytes of one read while a file is hashed. */
const CHUNK_BYTES = 1024 * 1024

/** Whether the file exists with the expected size and digest. */
export async function isIntact(file: string, { bytes, sha256 }: NonNullable<ExpectedFile>): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true && found.size === bytes && (await sha256Of(file)) === sha256
}

/**
 * Downloads a file as `<file>.part`, and renames it when it is complete and right. A download that was interrupted, in
 * this run or an earlier one, resumes while the strong ETag is the same (RFC 9110, section 14). `onBytes` receives the size of each piece, and first the size of a resumed part.
 */
export async function pullFile(
  ask: Ask,
  { path, file, expected, covers }: PulledFile,
  world: World,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const part = `${file}.part`
  let wrong = 0
  for (let attempt = 1; ; attempt++) {
    try {
      await download(ask, { path, part, covers }, world.stop, onBytes)
      if (expected === null || (await isIntact(part, expected))) break
      // The part of an earlier run may be wrong, so one new start is allowed.
      await remove(part)
      if (++wrong > 1)
        throw new CommandError(1, `${path}: the size or SHA-256 of the file is not that of its manifest`)
    } catch (error) {
      world.stop.throwIfAborted()
      const waitMs = attempt < ATTEMPTS_MAX ? waitMsAfter(error, attempt, world.random) : undefined
      if (waitMs === undefined) throw error
      await pauseOf(world.stop)(waitMs)
    }
  }
  await using handle = await open(part, 'r+')
  await handle.sync()
  await rename(part, file)
  await rm(etagFile(part), { force: true })
}

const etagFile = (part: string): string => `${part}.etag`

async function remove(part: string): Promise<void> {
  await rm(part, { force: true })
  await rm(etagFile(part), { force: true })
}

/** Requests the rest of a part, or the whole file, and writes the answer. */
async function download(
  ask: Ask,
  { path, part, covers }: Readonly<{ path: string; part: string; covers: number }>,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const etag = await readFile(etagFile(part), 'utf8').catch(() => '')
  const has = (await stat(part).catch(() => undefined))?.size ?? 0
  const isResumed = has > 0 && etag !== ''
  const headers = isResumed ? { Range: `bytes=${has}-`, 'If-Range': etag } : {}
  const opened = askedCovering(pauseOf(signal), path, covers, () => ask.open(path, { signal, headers }))
  const answer = await opened.catch((error: unknown) => {
    // The part is complete, or belongs to another file. Its digest decides.
    if (error instanceof DaybookError && error.status === 416) return null
    throw error
  })
  if (answer === null) return
  const start = answer.status === 206 ? startOf(answer) : 0
  if (start !== 0 && start !== has)
    throw new DaybookError('unexpected-answer', `${path}: the answer begins at byte ${start}, not ${has}`)
  const strong = answer.headers.get('etag') ?? ''
  if (start === 0) await rm(part, { force: true })
  await writeFile(etagFile(part), strong.startsWith('"') ? strong : '')
  onBytes(start)
  await using handle = await open(part, start === 0 ? 'w' : 'a')
  await writeBody(answer, handle, onBytes)
}

/** Index of the first byte of a partial answer; -1 when the header is malformed. */
function startOf({ headers }: OpenAnswer): number {
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? -1)
}

async function writeBody(
  { stream }: OpenAnswer,
  handle: FileHandle,
  onBytes: (bytes: number) => void,
): Promise<void> {
  for await (const chunk of stream) {
    await handle.appendFile(chunk)
    onBytes(chunk.length)
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await using handle = await open(file)
  const buffer = Buffer.alloc(CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
  }
}
