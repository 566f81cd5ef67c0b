import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** File system in memory, on Linux. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

/**
 * Makes a folder for the temporary files of this process and its children, until the process ends: in memory where there
 * is enough, since tests that write then need half the time.
 */
export function useTemporaryFolder(): void {
  const folder = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), 'daybook-tests-'))
  // Other users write here too, such as that of PostgreSQL.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  // A killed process may still write for a moment.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem() / 2) >= MEMORY_BYTES_MIN
  } catch {
    return false
  }
}
