import { closeSync, mkdirSync, mkdtempSync, openSync, readSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { quoted } from './output.ts'
import { CommandError } from './world.ts'

/**
 * Refuses what an option names as a folder unless it is one that can be written into, or can become one. Nothing is
 * left behind: work that fails later leaves no empty folder.
 */
export function checkFolder(path: string, option: string): void {
  const { place, missing } = nearest(path, option)
  try {
    // Modes do not say it of every file system: only what is tried is known.
    rmdirSync(mkdtempSync(join(place, '.daybook-')))
  } catch (cause) {
    const fault = missing.length > 0 ? 'cannot be made' : 'cannot be written into'
    throw new CommandError(2, `${option}: ${quoted(path)} ${fault}: ${systemReason(cause)}`, { cause })
  }
}

/** Makes a folder that an option names, with those above it, unless it is there. */
export function makeFolder(path: string, option: string): void {
  // Node's own way of making those above never ends where the system makes none, as below /proc.
  for (const one of nearest(path, option).missing) {
    try {
      mkdirSync(one)
    } catch (cause) {
      if (isFolder(one)) continue
      throw new CommandError(2, `${option}: ${quoted(path)} cannot be made: ${systemReason(cause)}`, {
        cause,
      })
    }
  }
}

/** Refuses the path of a file that an option names when the folder that it is to lie in is not there. */
export function checkFileFolder(path: string, option: string): void {
  const folder = dirname(path)
  if (isFolder(folder)) return
  const { missing } = nearest(folder, option)
  throw new CommandError(2, `${option}: there is no folder ${quoted(missing[0] ?? folder)}`)
}

/** Refuses a path at which something else than a file is, or whose folder is not there. */
export function checkFile(path: string, option: string): void {
  const found = statOf(path)
  if (found === undefined) return checkFileFolder(path, option)
  if (!found.isFile()) {
    const what = found.isDirectory() ? 'a folder' : 'no ordinary file'
    throw new CommandError(2, `${option}: ${quoted(path)} is ${what}; a file is needed`)
  }
}

/**
 * The first bytes of a file, as text. A file that is given by mistake may be large, and a device has no end: neither is
 * held whole. A pipe is read to its end as a file is.
 */
export function readBeginning(path: string, bytesMax: number): string {
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

/** Whether there is a folder at a path. */
export function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true
}

/** A failure of the system below what an option names, as an error of the command; anything else passes as it came. */
export function asPathError(error: unknown, option: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  const [path] = [Reflect.get(error, 'dest'), Reflect.get(error, 'path')].filter(
    (one) => typeof one === 'string',
  )
  const place = path === undefined ? '' : ` ${quoted(path)}:`
  return new CommandError(1, `${option}:${place} ${systemReason(error)}`, { cause: error })
}

/** What the system says of a failure, without its code and the call: `no space left on device`. */
export function systemReason(error: unknown): string {
  const number: unknown = error instanceof Error && 'errno' in error ? error.errno : undefined
  if (typeof number === 'number') return getSystemErrorMessage(number) ?? String(error)
  return error instanceof Error ? error.message : String(error)
}

/** The nearest folder at a path or above it that is there, and those below it that are missing, the outermost first. */
function nearest(path: string, option: string): Readonly<{ place: string; missing: readonly string[] }> {
  const missing: string[] = []
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = statOf(at)
    if (found?.isDirectory() === true) return { place: at, missing: missing.toReversed() }
    if (found !== undefined || dirname(at) === at) {
      throw new CommandError(2, `${option}: ${quoted(at)} is a file; a folder is needed`)
    }
    missing.push(at)
  }
}

/** What is at a path; undefined also where nothing may be looked at. */
function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
