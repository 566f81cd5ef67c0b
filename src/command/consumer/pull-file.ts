import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { Ask, OpenAnswer } from '../../client/ask.ts'
import { ATTEMPTS_MAX, waitMsAfter } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import type { World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** What a file must be, as its manifest says; null of a file that still grows. */
export type Expected = Readonly<{ bytes: number; sha256: string }> | null

/** Bytes read at once where a file is hashed. */
const CHUNK_BYTES = 1024 * 1024

/** Whether the file is there and is what it must be. */
export async function isIntact(file: string, { bytes, sha256 }: NonNullable<Expected>): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true && found.size === bytes && (await sha256Of(file)) === sha256
}

/**
 * Downloads a file beside its place and renames it when it is whole and right. What came before an interruption, of
 * this run or an earlier one, is kept and gone on from, as long as the strong ETag is the same (RFC 9110, section 14).
 */
export async function pullFile(
  ask: Ask,
  path: string,
  file: string,
  expected: Expected,
  world: World,
  came: (bytes: number) => void,
): Promise<void> {
  const part = `${file}.part`
  let wrong = 0
  for (let attempt = 1; ; attempt++) {
    try {
      await goOn(ask, path, part, world.stop, came)
      if (expected === null || (await isIntact(part, expected))) break
      // A part from another time may have spoilt it: it is begun anew, once.
      await remove(part)
      if (++wrong > 1) throw new CommandError(1, `${path} is not what its manifest says`)
    } catch (error) {
      world.stop.throwIfAborted()
      const waitMs = attempt < ATTEMPTS_MAX ? waitMsAfter(error, attempt, world.random) : undefined
      if (waitMs === undefined) throw error
      await SURROUNDINGS.sleep(waitMs, world.stop)
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

/** Asks for what is missing of a part, or for all of it, and writes what comes. */
async function goOn(
  ask: Ask,
  path: string,
  part: string,
  signal: AbortSignal,
  came: (bytes: number) => void,
): Promise<void> {
  const etag = await readFile(etagFile(part), 'utf8').catch(() => '')
  const has = (await stat(part).catch(() => undefined))?.size ?? 0
  const isResumed = has > 0 && etag !== ''
  const headers = isResumed ? { Range: `bytes=${has}-`, 'If-Range': etag } : {}
  const answer = await ask.open(path, { signal, headers }).catch((error: unknown) => {
    // There is nothing after the part's end: it is whole, or none of this file. Its digest decides.
    if (error instanceof DaybookError && error.status === 416) return null
    throw error
  })
  if (answer === null) return
  const start = answer.status === 206 ? startOf(answer) : 0
  if (start !== 0 && start !== has)
    throw new DaybookError('unexpected-answer', `${path} came from another byte on`)
  const strong = answer.headers.get('etag') ?? ''
  if (start === 0) await rm(part, { force: true })
  await writeFile(etagFile(part), strong.startsWith('"') ? strong : '')
  came(start)
  await using handle = await open(part, start === 0 ? 'w' : 'a')
  await take(answer, handle, came)
}

/** The first byte of a partial answer. */
function startOf({ headers }: OpenAnswer): number {
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? -1)
}

async function take(
  { stream }: OpenAnswer,
  handle: FileHandle,
  came: (bytes: number) => void,
): Promise<void> {
  for await (const chunk of stream) {
    await handle.appendFile(chunk)
    came(chunk.length)
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
