import { closeSync, mkdirSync, mkdtempSync, openSync, readSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { syncDirectory } from '../../log/store/durable-rename.ts'
import { errorMessage, isOverQuota, QUOTA_WORDS } from '../../protocol/error-reason.ts'
import { CommandError, UsageError } from './command-error.ts'
import { shellQuoted } from './output.ts'

/**
 * Refuses a path unless it is a writable folder, or one that can be created. Leaves nothing behind, so that later
 * failures leave no empty folder. `option` names the option in the error.
 */
export function checkFolder(path: string, option: string): void {
  const { folder, missing } = nearestFolder(path, option)
  try {
    // File modes are not reliable on every file system, so a write is tried.
    rmdirSync(mkdtempSync(join(folder, '.daybook-')))
  } catch (cause) {
    const fault = missing.length > 0 ? 'cannot be made' : 'cannot be written into'
    throw new UsageError(`${option}: ${shellQuoted(path)} ${fault}: ${systemReason(cause)}`, { cause })
  }
}

/**
 * Makes a folder that an option names, with its parents, unless it exists. `mode` is that of new folders. Their names are
 * on the disk when this returns.
 */
export function makeFolder(path: string, option: string, mode = 0o777): void {
  // `mkdirSync` with `recursive` never ends where the system allows no folder, as below /proc.
  for (const one of nearestFolder(path, option).missing) {
    try {
      mkdirSync(one, { mode })
      syncDirectory(dirname(one))
    } catch (cause) {
      if (isFolder(one)) continue
      throw new UsageError(`${option}: ${shellQuoted(path)} cannot be made: ${systemReason(cause)}`, {
        cause,
      })
    }
  }
}

/** Refuses the path of a new file when its folder does not exist. */
export function checkFileFolder(path: string, option: string): void {
  const folder = dirname(path)
  if (isFolder(folder)) return
  const { missing } = nearestFolder(folder, option)
  const absent = shellQuoted(missing[0] ?? folder)
  throw new UsageError(`${option}: there is no folder ${absent}; make it first`)
}

/** Refuses a path that is not an ordinary file, or a new file whose folder does not exist. */
export function checkFile(path: string, option: string): void {
  const found = statOf(path)
  if (found === undefined) return checkFileFolder(path, option)
  if (!found.isFile()) {
    const what = found.isDirectory() ? 'a folder' : 'not an ordinary file'
    throw new UsageError(`${option}: ${shellQuoted(path)} is ${what}; a file is needed`)
  }
}

/**
 * First `bytesMax` bytes of a file, as text. The limit keeps a large file or an endless device out of memory. A pipe is
 * read like a file.
 */
export function readStart(path: string, bytesMax: number): string {
  const buffer = Buffer.alloc(bytesMax)
  const file = openSync(path, 'r')
  try {
    let length = 0
    for (let read = -1; read !== 0 && length < bytesMax; length += read) {
      read = readSync(file, buffer, length, bytesMax - length, null)
    }
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}

/**
 * Text of a PEM file, at most `bytesMax` bytes. Throws an Error with the reason when it has neither certificate nor
 * key.
 */
export function readPem(path: string, bytesMax: number): string {
  const text = readStart(path, bytesMax)
  if (!text.includes('-----BEGIN ')) throw new Error('it holds no certificate or key in PEM')
  return text
}

/** First line of a password file. Throws an Error with the reason when it has none. */
export function readPassword(path: string, bytesMax: number): string {
  const [line = ''] = readStart(path, bytesMax).split(/\r?\n/)
  if (line === '') throw new Error('its first line is empty')
  // Bytes that are not UTF-8 have become U+FFFD.
  if (/[\p{Cc}\ufffd]/u.test(line)) throw new Error('its first line is not text')
  return line
}

/** Whether a path is an existing folder. */
export function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true
}

/** `CommandError` for a system error at a path that an option names; any other error is returned unchanged. */
export function asPathError(error: unknown, option: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  const [path] = [Reflect.get(error, 'dest'), Reflect.get(error, 'path')].filter(
    (one) => typeof one === 'string',
  )
  const place = path === undefined ? '' : ` ${shellQuoted(path)}:`
  return new CommandError(`${option}:${place} ${systemReason(error)}`, { cause: error })
}

/** Message of a system error without its code and call: `no space left on device`. */
export function systemReason(error: unknown): string {
  const number: unknown = error instanceof Error && 'errno' in error ? error.errno : undefined
  if (isOverQuota(error)) return QUOTA_WORDS
  if (typeof number === 'number') return getSystemErrorMessage(number) ?? String(error)
  return errorMessage(error)
}

/** Nearest existing folder at or above a path, and the missing folders below it, outermost first. */
function nearestFolder(
  path: string,
  option: string,
): Readonly<{ folder: string; missing: readonly string[] }> {
  const missing: string[] = []
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = statOf(at)
    if (found?.isDirectory() === true) return { folder: at, missing: missing.toReversed() }
    if (found !== undefined || dirname(at) === at) {
      throw new UsageError(`${option}: ${shellQuoted(at)} is a file; a folder is needed`)
    }
    missing.push(at)
  }
}

/** Status of a path; undefined when it does not exist or may not be read. */
function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
