import type { PeerCertificate } from 'node:tls'

/** TLS settings, as `tls.connect` takes them. `prefer` uses TLS when the server has it; false does not. */
type DatabaseTls =
  | false
  | 'prefer'
  | Readonly<{
      rejectUnauthorized: boolean
      ca?: string
      cert?: string
      key?: string
      checkServerIdentity?: (host: string, certificate: PeerCertificate) => undefined
    }>

/** One server of a database: an address, or the directory of a Unix socket. */
export type DatabaseHost = Readonly<{ host: string; port: number }>

/** A database of PostgreSQL. A part that is null has the default of the environment, such as `PGUSER`. */
export type DatabaseTarget = Readonly<{
  /** Servers, tried in order; empty for the default. */
  hosts: readonly DatabaseHost[]
  user: string | null
  password: string | null
  database: string | null
  tls: DatabaseTls
  connectSeconds: number
  /** Name of the session in `pg_stat_activity`, and its settings (`-c name=value`). */
  applicationName: string
  options: string | null
  /** Name for messages: servers and database, without user and password. */
  shown: string
}>
