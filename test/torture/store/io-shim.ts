import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'

/** Names of calls. All but the last four change something. */
export type ShimCall =
  | 'create'
  | 'pwrite'
  | 'ftruncate'
  | 'fallocate'
  | 'fsync'
  | 'fdatasync'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'rmdir'
  | 'open'
  | 'pread'
  | 'mmap'
  | 'fcntl'

/** Counting, faults and records of `io-shim.c`, whose comment says more about each. */
export type ShimWish = Readonly<{
  /** Folder whose files count: an absolute path. */
  root: string
  /** Calls that count; by default those that change something. */
  calls?: readonly ShimCall[]
  /** Endings of the paths that count; by default all. */
  files?: readonly string[]
  /** File: calls count only while it exists. */
  onlyWhile?: string
  /** The k-th call, from 1, and `times − 1` after it fail. A short write or read moves half of the bytes. */
  fail?: Readonly<{ at: number; error: ShimError; times?: number }>
  /** File to which each change is appended, with the bytes of writes. */
  trace?: string
  /** File to which the calls that failed are appended, or all that counted. */
  report?: string
  reportsAll?: boolean
}>
export type ShimError = 'EIO' | 'ENOSPC' | 'EDQUOT' | 'EMFILE' | 'ENOMEM' | 'EACCES' | 'EROFS' | 'short'

const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/io-shim')
const SOURCES = ['io-shim.c', 'io-shim.h'].map((name) => join(import.meta.dirname, name))
const FLAGS = ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror', '-Wno-format-truncation']

/** Compiles the library unless its sources have not changed since. Needs `cc` and the headers of libc and Linux. */
function shimLibrary(): string {
  const name = hash('sha256', SOURCES.map((path) => readFileSync(path, 'utf8')).join(FLAGS.join(' ')))
  const library = join(FOLDER, `${name.slice(0, 16)}.so`)
  if (existsSync(library)) return library
  mkdirSync(FOLDER, { recursive: true })
  // Several test files may compile it at once.
  const own = `${library}.${process.pid}`
  try {
    execFileSync('cc', [...FLAGS, '-o', own, SOURCES[0] ?? '', '-ldl'])
    renameSync(own, library)
  } finally {
    rmSync(own, { force: true })
  }
  return library
}

/** Environment of a child process that the library is loaded into. */
export function shimEnv(wish: ShimWish): Readonly<Record<string, string>> {
  const { root, calls, files, onlyWhile, fail, trace, report, reportsAll } = wish
  assert.ok(root.startsWith('/'), 'the folder has an absolute path')
  const listed = (names: readonly string[]): string => names.map((name) => `${name},`).join('')
  return {
    LD_PRELOAD: shimLibrary(),
    SHIM_ROOT: root,
    ...(calls && { SHIM_CALLS: listed(calls) }),
    ...(files && { SHIM_FILES: listed(files) }),
    ...(onlyWhile && { SHIM_WHILE: onlyWhile }),
    ...(fail && { SHIM_FAIL: `${fail.at} ${errorNumber(fail.error)} ${fail.times ?? 1}` }),
    ...(trace && { SHIM_TRACE: trace }),
    ...(report && { SHIM_REPORT: reportsAll === true ? `all ${report}` : report }),
  }
}

/** Command prefix of a program that the library is loaded into. */
export function withShim(wish: ShimWish): readonly string[] {
  return ['env', ...Object.entries(shimEnv(wish)).map(([name, value]) => `${name}=${value}`)]
}

const errorNumber = (error: ShimError): number => (error === 'short' ? 0 : constants.errno[error])

/** A line of a report: a call that counted. `number` counts from 1. */
export type CountedCall = Readonly<{ call: string; number: number; path: string }>

/** Reads a report; empty when no call counted. */
export function countedCalls(report: string): readonly CountedCall[] {
  if (!existsSync(report)) return []
  const lines = readFileSync(report, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [call = '', number, path = ''] = line.split(' ')
    return { call, number: Number(number), path }
  })
}
