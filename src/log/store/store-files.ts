import { rmSync } from 'node:fs'

/** Suffixes of the files that SQLite makes beside a store. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const
/** Suffix of a store that `createStore` has not finished. */
export const MAKING = '.making'

/** Removes a store, the files beside it, and an unfinished one of the same name. None of them must exist. */
export function removeStore(path: string): void {
  for (const file of [path, `${path}${MAKING}`]) {
    rmSync(file, { force: true })
    removeCompanions(file)
  }
}

/** Removes the files beside a store. What is only in its write-ahead log is lost. */
export function removeCompanions(path: string): void {
  for (const suffix of COMPANIONS) rmSync(`${path}${suffix}`, { force: true })
}
