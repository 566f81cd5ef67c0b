/** Names of what a stream has in the database. */
export type StreamNames = Readonly<{
  schema: string
  /** Name of the table without its schema. */
  name: string
  /** Name of the table with its schema. */
  table: string
  /** Name of its primary key. */
  key: string
  /** Channel on which appends are told. */
  grown: string
  /** Channel on which writers tell each other something. */
  told: string
}>

const SCHEMA = 'public'

/** Names of a stream by its number. */
export function streamNames(stream: number): StreamNames {
  const name = `daybook_commits_${stream}`
  return {
    schema: SCHEMA,
    name,
    table: `${SCHEMA}.${name}`,
    key: `${name}_pkey`,
    grown: `daybook_grown_${stream}`,
    told: `daybook_told_${stream}`,
  }
}

/** Refuses a name that would need quotes in SQL. */
export function isPlainRole(role: string): boolean {
  return /^[a-z_][a-z0-9_]{0,62}$/.test(role)
}

/**
 * SQL that makes the table of a stream and the rights of the running role, as an administrator. The name of the database
 * is quoted. Whoever may connect to a database may tell and hear everything on its channels.
 */
export function commitTableSql(stream: number, role: string, database: string): readonly string[] {
  const { table, key } = streamNames(stream)
  return [
    `CREATE TABLE ${table} (n bigint CONSTRAINT ${key} PRIMARY KEY, body bytea NOT NULL)`,
    `REVOKE ALL ON ${table} FROM PUBLIC`,
    `GRANT SELECT, INSERT ON ${table} TO ${role}`,
    `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`,
    `GRANT CONNECT ON DATABASE ${database} TO ${role}`,
  ]
}

/** SQL that makes the running role, which may see how far the standbys are. It gets no password here. */
export function runningRoleSql(role: string): readonly string[] {
  return [`CREATE ROLE ${role} LOGIN`, `GRANT pg_read_all_stats TO ${role}`]
}
