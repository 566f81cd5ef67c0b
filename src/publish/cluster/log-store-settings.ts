import type { NatsTarget } from '../../engine/nats/nats-target.ts'
import type { DatabaseTarget } from '../../engine/postgres/database-target.ts'

/** TLS of a database without a function, so that it can be passed between threads. */
type SentTls =
  | Extract<DatabaseTarget['tls'], false | 'prefer'>
  | (Omit<Exclude<DatabaseTarget['tls'], false | 'prefer'>, 'checkServerIdentity'> &
      Readonly<{ checksName: boolean }>)

/** A database, as it can be passed between threads. */
type SentDatabase = Omit<DatabaseTarget, 'tls'> & Readonly<{ tls: SentTls }>

/** The engine that carries the log, and this node's name among its writers (`--log-store`). */
export type LogStoreSettings = Readonly<{
  nodeName: string
  engine:
    | Readonly<{ is: 'nats'; target: NatsTarget; credentials: string | null }>
    | Readonly<{ is: 'postgres'; target: SentDatabase; isSingle: boolean }>
}>

export function sentDatabase({ tls, ...target }: DatabaseTarget): SentDatabase {
  if (tls === false || tls === 'prefer') return { ...target, tls }
  const { checkServerIdentity, ...plain } = tls
  return { ...target, tls: { ...plain, checksName: checkServerIdentity === undefined } }
}

export function databaseOf({ tls, ...target }: SentDatabase): DatabaseTarget {
  if (tls === false || tls === 'prefer') return { ...target, tls }
  const { checksName, ...plain } = tls
  return { ...target, tls: checksName ? plain : { ...plain, checkServerIdentity: () => undefined } }
}
