import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { EngineError } from '../../src/engine/log-engine.ts'
import type { PostgresRig } from './postgres-rig.ts'

const WAIT_MS = 60_000
const LOOK_MS = 20
const RELOAD = 'SELECT pg_reload_conf()'

/** A fault of the settings: statements that make and repair it on a real server, and the complaint. `T` is the table. */
type Fault = readonly [
  name: string,
  breaking: readonly string[],
  repairing: readonly string[],
  complaint: RegExp,
]

const setting = (value: string, name: string, complaint: RegExp): Fault => [
  `${name} = ${value}`,
  [`ALTER SYSTEM SET ${name} = ${value}`, RELOAD],
  [`ALTER SYSTEM RESET ${name}`, RELOAD],
  complaint,
]
const right = (grant: string, complaint: RegExp): Fault => [
  `GRANT ${grant} daybook`,
  [`GRANT ${grant} daybook`],
  [`REVOKE ${grant.replace(/ TO$/, ' FROM')} daybook`],
  complaint,
]
const attribute = (name: string, complaint: RegExp): Fault => [
  `the role is ${name}`,
  [`ALTER ROLE daybook ${name}`],
  [`ALTER ROLE daybook NO${name}`],
  complaint,
]

const FAULTS: readonly Fault[] = [
  setting('off', 'fsync', /^fsync is off/),
  setting('off', 'full_page_writes', /^full_page_writes is off/),
  setting("''", 'synchronous_standby_names', /^synchronous_standby_names is empty/),
  setting(
    "'ANY 2 (daybook_a, daybook_b)'",
    'synchronous_standby_names',
    /^1 of 2 synchronous standbys are connected/,
  ),
  attribute('SUPERUSER', /^the role is a superuser/),
  attribute('CREATEDB', /^the role has CREATEROLE, CREATEDB/),
  attribute('CREATEROLE', /^the role has CREATEROLE, CREATEDB/),
  attribute('REPLICATION', /^the role has CREATEROLE, CREATEDB/),
  attribute('BYPASSRLS', /^the role has CREATEROLE, CREATEDB/),
  right('pg_signal_backend TO', /^the role is a member of another role/),
  [
    'the role owns the database',
    ['ALTER DATABASE postgres OWNER TO daybook'],
    ['ALTER DATABASE postgres OWNER TO tester', 'GRANT CONNECT ON DATABASE postgres TO daybook'],
    /^the role is a member of another role, or owns the database/,
  ],
  [
    'every role may connect',
    ['GRANT CONNECT ON DATABASE postgres TO PUBLIC'],
    ['REVOKE ALL ON DATABASE postgres FROM PUBLIC'],
    /^every role may connect to the database/,
  ],
  right('CREATE ON SCHEMA public TO', /^the role may make tables/),
  right('CREATE ON DATABASE postgres TO', /^the role may make tables/),
  [
    'the role cannot see the standbys',
    ['REVOKE pg_read_all_stats FROM daybook'],
    ['GRANT pg_read_all_stats TO daybook'],
    /^the role may not see the standbys/,
  ],
  ...['UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'].map((one) =>
    right(`${one} ON T TO`, /can be changed by the role/),
  ),
  right('UPDATE (body) ON T TO', /can be changed by the role/),
  [
    'the role may not insert',
    ['REVOKE INSERT ON T FROM daybook'],
    ['GRANT INSERT ON T TO daybook'],
    /cannot be read/,
  ],
  [
    'the table is readable for all',
    ['GRANT SELECT ON T TO PUBLIC'],
    ['REVOKE ALL ON T FROM PUBLIC'],
    /other roles/,
  ],
  [
    'a column is readable for all',
    ['GRANT SELECT (n) ON T TO PUBLIC'],
    ['REVOKE ALL (n) ON T FROM PUBLIC'],
    /other roles/,
  ],
  [
    'the role owns the table',
    ['ALTER TABLE T OWNER TO daybook'],
    ['ALTER TABLE T OWNER TO tester', 'GRANT SELECT, INSERT ON T TO daybook'],
    /can be changed/,
  ],
  [
    'the table is not logged',
    ['ALTER TABLE T SET UNLOGGED'],
    ['ALTER TABLE T SET LOGGED'],
    /is not an ordinary, logged/,
  ],
  [
    'the table has a child',
    ['CREATE TABLE child () INHERITS (T)'],
    ['DROP TABLE child'],
    /is not an ordinary, logged/,
  ],
  [
    'a column has another type',
    ["ALTER TABLE T ALTER body TYPE text USING ''"],
    ["ALTER TABLE T ALTER body TYPE bytea USING ''"],
    /does not have exactly the columns/,
  ],
  [
    'a column may be null',
    ['ALTER TABLE T ALTER body DROP NOT NULL'],
    ['ALTER TABLE T ALTER body SET NOT NULL'],
    /does not have exactly the columns/,
  ],
  [
    'a column has a default',
    ["ALTER TABLE T ALTER body SET DEFAULT ''"],
    ['ALTER TABLE T ALTER body DROP DEFAULT'],
    /does not have exactly the columns/,
  ],
  [
    'a constraint is added',
    ['ALTER TABLE T ADD CONSTRAINT small CHECK (n < 9)'],
    ['ALTER TABLE T DROP CONSTRAINT small'],
    /has other constraints or indexes/,
  ],
  [
    'an index is added',
    ['CREATE UNIQUE INDEX another ON T (md5(body))'],
    ['DROP INDEX another'],
    /has other constraints or indexes/,
  ],
  [
    'the primary key is gone',
    ['ALTER TABLE T DROP CONSTRAINT K'],
    ['ALTER TABLE T ADD CONSTRAINT K PRIMARY KEY (n)'],
    /has other constraints or indexes/,
  ],
  [
    'the table has a trigger',
    [
      'CREATE TRIGGER quiet BEFORE UPDATE ON T FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    ],
    ['DROP TRIGGER quiet ON T'],
    /has triggers/,
  ],
  [
    'the table has a rule',
    ['CREATE RULE gone AS ON INSERT TO T DO INSTEAD NOTHING'],
    ['DROP RULE gone ON T'],
    /has rules/,
  ],
  [
    'rows are secured',
    ['ALTER TABLE T ENABLE ROW LEVEL SECURITY'],
    ['ALTER TABLE T DISABLE ROW LEVEL SECURITY'],
    /has row-level security/,
  ],
]

/** Tests that break the settings of a primary with a synchronous standby, one after the other, and repair them. */
export function testPostgresGuards(openRig: () => Promise<PostgresRig>, skip: string | false): void {
  suite('a database for the log', { skip, timeout: 200_000 }, () => {
    test('is in order as `cluster init` makes it, and its faults are named', async (t) => {
      const rig = await openRig()
      const table = `daybook_commits_${await rig.makeStream()}`
      await using engine = rig.connect()
      const run = (statements: readonly string[]): Promise<unknown> => {
        const named = statements.map((text) =>
          text.replaceAll(/\bT\b/g, table).replaceAll(/\bK\b/g, `${table}_pkey`),
        )
        return rig.sql(rig.primary(), ...named)
      }
      await untilFound(engine, null)
      for (const [name, breaking, repairing, complaint] of FAULTS) {
        await t.test(`not when ${name}`, async () => {
          await run(breaking)
          try {
            await untilFound(engine, complaint)
          } finally {
            await run(repairing)
          }
          await untilFound(engine, null)
        })
      }
    })

    test('needs the table of the stream', async () => {
      const rig = await openRig()
      await using engine = rig.connect({ stream: 999 })
      assert.match((await engine.inspect()).join(), /there is no table public\.daybook_commits_999/)
      await assert.rejects(engine.log.last(), EngineError)
      assert.equal(await engine.log.append(1, new Uint8Array(1)), 'unknown')
    })

    test('lets no other role in, so that no stranger hears or tells marks', async () => {
      const rig = await openRig()
      await rig.makeStream()
      await rig.sql(rig.primary(), 'CREATE ROLE stranger LOGIN')
      const sql = postgres(rig.url('stranger'), { max: 1, onnotice: () => undefined })
      await assert.rejects(sql.unsafe('SELECT 1'), { code: '42501' })
      await sql.end({ timeout: 1 })
    })

    test('lets the role of a node change nothing', async () => {
      const rig = await openRig()
      const table = `public.daybook_commits_${await rig.makeStream()}`
      await using engine = rig.connect()
      assert.equal(await engine.log.append(1, new Uint8Array(1)), 'appended')
      const sql = postgres(rig.url(), { max: 1, onnotice: () => undefined })
      for (const statement of [
        `UPDATE ${table} SET n = 2`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
        `DROP TABLE ${table}`,
        `ALTER TABLE ${table} ADD x text`,
        'CREATE TABLE public.mine (n integer)',
        `CREATE RULE r AS ON INSERT TO ${table} DO INSTEAD NOTHING`,
      ]) {
        await assert.rejects(sql.unsafe(statement), { code: '42501' }, statement)
      }
      await sql.end({ timeout: 1 })
    })
  })
}

/** Waits until the only complaint fits a pattern; null waits until there is none. A reloaded setting takes a moment. */
async function untilFound(engine: EngineConnection, complaint: RegExp | null): Promise<void> {
  for (const endMs = performance.now() + WAIT_MS; ; await sleep(LOOK_MS)) {
    const found = await engine.inspect()
    const isFound = complaint === null ? found.length === 0 : found.some((one) => complaint.test(one))
    if (isFound) return
    assert.ok(performance.now() < endMs, `${String(complaint)}: ${found.join('; ')}`)
  }
}
