import { errorMessage } from '../protocol/error-reason.ts'
import { LockedError } from './store/lock.ts'
import { StoreError } from './store/store.ts'

/** SQLITE_IOERR_SHMSIZE of https://www.sqlite.org/rescode.html: of the file of 32 KiB that each opening makes. */
const SHM_CANNOT_GROW = 4_874

/**
 * One-line message of a failure outside the program: a file, the network, the store. Undefined for a bug, which is
 * logged with its stack.
 */
export function outsideReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof LockedError || error instanceof StoreError) return error.message
  if ('syscall' in error) return errorMessage(error)
  if (!('code' in error && error.code === 'ERR_SQLITE_ERROR')) return undefined
  const isShm = 'errcode' in error && error.errcode === SHM_CANNOT_GROW
  const hint = isShm ? ': its file -shm cannot grow, as on a full disk' : ''
  return `the store cannot be used: ${error.message}${hint}`
}
