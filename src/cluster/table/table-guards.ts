import type { DatabaseConnection } from '../../command/database/database-connection.ts'
import { isLocal } from '../../command/database/database-url.ts'
import { APPEND_MS_MAX } from './log-table.ts'
import { standbysNeeded } from './standby-proof.ts'
import { NO_TABLE, TABLE, type TableSession } from './table-session.ts'

/** Name that PostgreSQL gives to the primary key. */
const KEY = `${TABLE.slice('public.'.length)}_pkey`
/** Oldest accepted version of PostgreSQL, the first one with `idle_session_timeout`. */
const VERSION_MIN = 14
/** Time limit of each question, in ms. */
const LIMIT = { answerMs: APPEND_MS_MAX } as const

/** Fault as a condition in SQL, and a sentence that says what is wrong and what to do. */
type Guard = readonly [wrong: string, complaint: string]

const setting = (name: string): string => `current_setting('${name}')`

const SERVER_GUARDS: readonly Guard[] = [
  [
    `${setting('server_version_num')}::integer < ${VERSION_MIN} * 10000`,
    `the server is older than PostgreSQL ${VERSION_MIN}: upgrade it`,
  ],
  [`${setting('fsync')} <> 'on'`, 'fsync is off: a crash loses acknowledged commits; turn it on'],
  [`${setting('full_page_writes')} <> 'on'`, 'full_page_writes is off: a crash may damage pages; turn it on'],
  [
    `${setting('synchronous_commit')} NOT IN ('on', 'remote_apply')`,
    'synchronous_commit is not on in our own sessions: remove what overrides it',
  ],
]

/** Rights of the running role. For a superuser only that is reported, because it has all rights. */
const ROLE_GUARDS: readonly Guard[] = [
  ['rolsuper', 'the role is a superuser: run with a role that may only insert and select'],
  [
    'NOT rolsuper AND (rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)',
    'the role has CREATEROLE, CREATEDB, REPLICATION or BYPASSRLS: take them away with ALTER ROLE',
  ],
  [
    `NOT rolsuper AND EXISTS (SELECT FROM pg_roles AS r WHERE pg_has_role(me.oid, r.oid, 'MEMBER') AND r.oid <> me.oid
      AND r.rolname NOT IN ('pg_monitor', 'pg_read_all_settings', 'pg_read_all_stats', 'pg_stat_scan_tables'))`,
    'the role is a member of another role, or owns the database: REVOKE that role from it, or give the database to another',
  ],
  [
    `NOT rolsuper AND (has_schema_privilege(me.oid, 'public', 'CREATE')
      OR has_database_privilege(me.oid, current_database(), 'CREATE'))`,
    'the role may make tables: REVOKE CREATE ON SCHEMA public, and on the database, from it and from PUBLIC',
  ],
  [
    `NOT rolsuper AND EXISTS (SELECT FROM pg_database AS d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba)))
      WHERE d.datname = current_database() AND grantee = 0 AND privilege_type = 'CONNECT')`,
    'every role may connect to the database, and so take the lock of the log: REVOKE ALL ON DATABASE from PUBLIC, and GRANT CONNECT to the role',
  ],
  [
    "NOT rolsuper AND NOT pg_has_role(me.oid, 'pg_read_all_stats', 'USAGE')",
    'the role may not see the standbys: GRANT pg_read_all_stats to it',
  ],
]

/** Conditions about `t`, the row of the table in `pg_class`, and `me`. */
const TABLE_GUARDS: readonly Guard[] = [
  [
    `t.relkind <> 'r' OR t.relpersistence <> 'p' OR t.relispartition
      OR EXISTS (SELECT FROM pg_inherits WHERE t.oid IN (inhparent, inhrelid))`,
    'is not an ordinary, logged table of its own: make it with `daybook cluster init`',
  ],
  [
    `(SELECT array_agg(format('%s %s %s', attname, atttypid::regtype, attnotnull) ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0) <> ARRAY['place bigint t', 'body bytea t']
      OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0
        AND (atthasdef OR attidentity <> '' OR attgenerated <> '' OR attisdropped))`,
    'does not have exactly the columns `place bigint` and `body bytea`, NOT NULL and without defaults',
  ],
  [
    `(SELECT array_agg(format('%s %s %s %s', conname, contype, conkey, condeferrable)) FROM pg_constraint
      WHERE conrelid = t.oid AND contype <> 'n') IS DISTINCT FROM ARRAY['${KEY} p {1} f']
      OR (SELECT count(*) FROM pg_index WHERE indrelid = t.oid) <> 1`,
    'has other constraints or indexes than its primary key on place',
  ],
  [
    'EXISTS (SELECT FROM pg_trigger WHERE tgrelid = t.oid)',
    'has triggers, which could change or refuse a row: drop them',
  ],
  [
    'EXISTS (SELECT FROM pg_rewrite WHERE ev_class = t.oid)',
    'has rules, which could change or swallow a row: drop them',
  ],
  ['t.relrowsecurity OR t.relforcerowsecurity', 'has row-level security, which could hide rows: disable it'],
  [
    `NOT has_table_privilege(me.oid, t.oid, 'SELECT') OR NOT has_table_privilege(me.oid, t.oid, 'INSERT')`,
    'cannot be read and written by the role: GRANT SELECT, INSERT on it',
  ],
  [
    `NOT me.rolsuper AND (has_table_privilege(me.oid, t.oid, 'UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
      OR has_any_column_privilege(me.oid, t.oid, 'UPDATE, REFERENCES'))`,
    'can be changed by the role: REVOKE everything but SELECT and INSERT on it',
  ],
  [
    `EXISTS (SELECT FROM aclexplode(t.relacl) WHERE grantee NOT IN (t.relowner, me.oid))
      OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = t.oid AND attacl IS NOT NULL)`,
    'has rights for other roles than its owner and the running role, or for single columns: REVOKE them',
  ],
]

/**
 * Faults that a session finds: of the server, its standbys, the role, the table and the connection. Throws a
 * DatabaseError.
 */
export async function inspectSession(
  { connection, host }: TableSession,
  isSingle: boolean,
): Promise<readonly string[]> {
  return [
    ...(await complaintsOf(connection, SERVER_GUARDS, '')),
    ...(isSingle ? [] : await findStandbyFaults(connection)),
    ...(isLocal(host) ? [] : await transportFaults(connection)),
    ...(await complaintsOf(connection, ROLE_GUARDS, 'FROM pg_roles AS me WHERE me.rolname = current_user')),
    ...(await tableFaults(connection)),
  ]
}

/** Complaints of the guards whose condition holds. */
async function complaintsOf(
  connection: DatabaseConnection,
  guards: readonly Guard[],
  from: string,
): Promise<readonly string[]> {
  const columns = guards.map(([wrong], index) => `(${wrong}) AS c${index}`)
  const [row] = await connection.ask(`SELECT ${columns.join(', ')} ${from}`, [], LIMIT)
  return guards.flatMap(([, complaint], index) => (row?.[`c${index}`] === false ? [] : [complaint]))
}

/** Fault of the synchronous standbys, in one sentence. */
async function findStandbyFaults(connection: DatabaseConnection): Promise<readonly string[]> {
  const [row] = await connection.ask(
    `SELECT current_setting('synchronous_standby_names') AS names, (SELECT count(*)::integer
      FROM pg_stat_get_wal_senders() WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')) AS standbys`,
    [],
    LIMIT,
  )
  const needed = standbysNeeded(String(row?.['names']))
  const standbys = Number(row?.['standbys'])
  if (needed === 0) {
    return [
      'synchronous_standby_names is empty: a lost disk loses acknowledged commits; name a standby, or accept one database with --single-database',
    ]
  }
  if (standbys >= needed) return []
  return [
    `${standbys} of ${needed} synchronous standbys are connected: nothing can be acknowledged until they are`,
  ]
}

/** Faults of the way to another machine. */
async function transportFaults(connection: DatabaseConnection): Promise<readonly string[]> {
  const [row] = await connection.ask(
    'SELECT ssl, client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    [],
    LIMIT,
  )
  const isKnown = connection.isPasswordAsked() || row?.['client_dn'] !== null
  return [
    ...(row?.['ssl'] === true ? [] : ['the connection has no TLS: use sslmode=verify-full']),
    ...(isKnown
      ? []
      : [
          'the server asks for no password and no certificate: require scram-sha-256 for this role in pg_hba.conf',
        ]),
  ]
}

async function tableFaults(connection: DatabaseConnection): Promise<readonly string[]> {
  const [row] = await connection.ask('SELECT to_regclass($1)::text AS name', [TABLE], LIMIT)
  if (row?.['name'] == null) return [NO_TABLE]
  const from = `FROM pg_class AS t, pg_roles AS me WHERE t.oid = to_regclass('${TABLE}') AND me.rolname = current_user`
  const complaints = await complaintsOf(connection, TABLE_GUARDS, from)
  return complaints.map((complaint) => `the table ${TABLE} ${complaint}`)
}
