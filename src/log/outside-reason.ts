import { errorMessage } from '../protocol/error-reason.ts'
import { LockedError } from './store/lock.ts'
import { isOfSqlite, lacksShm } from './store/sqlite-error.ts'
import { StoreError } from './store/store.ts'

/**
 * One-line message of a failure outside the program: a file, the network, the store. Undefined for a bug, which is
 * logged with its stack.
 */
export function outsideReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof LockedError || error instanceof StoreError) return error.message
  if ('syscall' in error) return errorMessage(error)
  if (!isOfSqlite(error)) return undefined
  const hint = lacksShm(error) ? ': its file -shm cannot grow, as on a full disk' : ''
  return `the store cannot be used: ${error.message}${hint}`
}
