import type { DatabaseTarget } from './database-target.ts'

/** TLS of a database without a function, so that it can be passed between threads. */
type SentTls =
  | Extract<DatabaseTarget['tls'], false | 'prefer'>
  | (Omit<Exclude<DatabaseTarget['tls'], false | 'prefer'>, 'checkServerIdentity'> &
      Readonly<{ checksName: boolean }>)

/** A database, as it can be passed between threads. */
export type SentDatabase = Omit<DatabaseTarget, 'tls'> & Readonly<{ tls: SentTls }>

/** A database in a form that can be passed between threads. */
export function sentDatabase({ tls, ...target }: DatabaseTarget): SentDatabase {
  if (tls === false || tls === 'prefer') return { ...target, tls }
  const { checkServerIdentity, ...plain } = tls
  return { ...target, tls: { ...plain, checksName: checkServerIdentity === undefined } }
}

/** The database that was passed. */
export function databaseOf({ tls, ...target }: SentDatabase): DatabaseTarget {
  if (tls === false || tls === 'prefer') return { ...target, tls }
  const { checksName, ...plain } = tls
  return { ...target, tls: checksName ? plain : { ...plain, checkServerIdentity: () => undefined } }
}
