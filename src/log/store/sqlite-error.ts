const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_NOMEM = 7
const SQLITE_READONLY = 8
const SQLITE_INTERRUPT = 9
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_PROTOCOL = 15

/**
 * Primary codes of temporary failures, caused by the machine or another connection. None says anything about the
 * content of the store.
 */
const PASSING_CODES: ReadonlySet<number | null> = new Set([
  SQLITE_BUSY,
  SQLITE_LOCKED,
  SQLITE_NOMEM,
  // A reader cannot set up the index of the write-ahead log.
  SQLITE_READONLY,
  SQLITE_INTERRUPT,
  SQLITE_FULL,
  SQLITE_CANTOPEN,
  SQLITE_PROTOCOL,
])

const SQLITE_IOERR = 10
const ioError = (detail: number): number => SQLITE_IOERR | (detail << 8)
/** SQLITE_IOERR_SHMSIZE. */
const SHM_SIZE = ioError(19)

/** I/O errors that do not come from the disk: memory, locks, and the shared index of the write-ahead log. */
const PASSING_IO_CODES: ReadonlySet<number | null> = new Set([
  ioError(8), // SQLITE_IOERR_UNLOCK
  ioError(9), // SQLITE_IOERR_RDLOCK
  ioError(12), // SQLITE_IOERR_NOMEM
  ioError(15), // SQLITE_IOERR_LOCK
  ioError(18), // SQLITE_IOERR_SHMOPEN
  SHM_SIZE,
  ioError(20), // SQLITE_IOERR_SHMLOCK
  ioError(21), // SQLITE_IOERR_SHMMAP
  ioError(24), // SQLITE_IOERR_MMAP
])

/** System error codes for a temporary lack of files, memory or threads. `EIO` is not one: the disk fails. */
const PASSING_SYSTEM_CODES: ReadonlySet<unknown> = new Set(['EAGAIN', 'EBUSY', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** Whether an error comes from SQLite or the system. It says nothing about the content. */
export function isOfMachine(error: unknown): boolean {
  return error instanceof Error && ('errcode' in error || 'syscall' in error)
}

/** Whether an error is of SQLite. */
export function isOfSqlite(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}

/** Whether SQLite could not create or extend the `-shm` file beside the store, as on a full disk. */
export function lacksShm(error: unknown): boolean {
  return codeOf(error) === SHM_SIZE
}

/** Whether SQLite refused because another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY
}

/** Whether SQLite failed because the disk is full. */
export function isFull(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_FULL
}

/**
 * Whether a read failed for a temporary reason, such as too few open files or too little memory. False for a damaged
 * store and for a failing disk.
 */
export function isPassingFault(error: unknown): boolean {
  if (PASSING_CODES.has(primaryCodeOf(error)) || PASSING_IO_CODES.has(codeOf(error))) return true
  return error instanceof Error && 'code' in error && PASSING_SYSTEM_CODES.has(error.code)
}

/** Low byte of SQLite's result code. The other bytes say which operation failed. */
export function primaryCodeOf(error: unknown): number | null {
  const code = codeOf(error)
  return code === null ? null : code & 0xff
}

function codeOf(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : null
}
