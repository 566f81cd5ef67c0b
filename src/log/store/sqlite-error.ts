const SQLITE_BUSY = 5
const SQLITE_FULL = 13

/** Whether SQLite refused because another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY
}

/** Whether SQLite failed because the disk is full. */
export function isFull(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_FULL
}

/** The low byte of SQLite's result code. The others say which operation failed. */
function primaryCodeOf(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null
}
