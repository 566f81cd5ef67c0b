import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

/** File system in memory, on Linux. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

/**
 * Makes temporary files of this process and its children in memory, until the process ends. Tests that write then need
 * half the time. Where memory is scarce, nothing changes.
 */
export function useMemoryFolder(): void {
  const folder = memoryFolder()
  if (folder === undefined) return
  process.env['TMPDIR'] = folder
  // A killed process may still write for a moment.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}

function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (Math.min(bavail * bsize, freemem() / 2) < MEMORY_BYTES_MIN) return undefined
    const folder = mkdtempSync(join(MEMORY, 'daybook-tests-'))
    // Other users write here too, such as that of PostgreSQL.
    chmodSync(folder, 0o1777)
    return folder
  } catch {
    return undefined
  }
}
