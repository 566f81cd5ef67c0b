import { TABLE } from './table-session.ts'

/** A name that needs no quotes in SQL. */
const PLAIN = /^[a-z_][a-z0-9_]{0,62}$/

/**
 * SQL that creates the table of a log, and the role of the nodes if it is missing. An administrator of the database
 * runs it. The role may only insert and read rows and see the standbys. Null for names that need quotes.
 */
export function setupSql(role: string, database: string): string | null {
  if (!PLAIN.test(role) || !PLAIN.test(database)) return null
  return `BEGIN;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} LOGIN; END IF;
END $$;
GRANT pg_read_all_stats TO ${role};
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON DATABASE ${database} FROM PUBLIC;
GRANT CONNECT ON DATABASE ${database} TO ${role};
CREATE TABLE ${TABLE} (place bigint PRIMARY KEY, body bytea NOT NULL);
REVOKE ALL ON ${TABLE} FROM PUBLIC;
GRANT SELECT, INSERT ON ${TABLE} TO ${role};
COMMIT;
`
}
