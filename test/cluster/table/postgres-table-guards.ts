import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { TableError } from '../../../src/cluster/table/log-table.ts'
import { inspectTable } from '../../../src/cluster/table/open-table.ts'
import { setupSql } from '../../../src/cluster/table/table-setup.ts'
import type { PostgresTableRig } from './postgres-table-rig.ts'

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
    ['GRANT SELECT (place) ON T TO PUBLIC'],
    ['REVOKE ALL (place) ON T FROM PUBLIC'],
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
    ['ALTER TABLE T ADD CONSTRAINT small CHECK (place < 9)'],
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
    ['ALTER TABLE T ADD CONSTRAINT K PRIMARY KEY (place)'],
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
export function testTableGuards(openRig: () => Promise<PostgresTableRig>, skip: string | false): void {
  suite('a database for the table', { skip, timeout: 200_000 }, () => {
    test('is in order as `cluster init` makes it, and its faults are named', async (t) => {
      const rig = await openRig()
      await rig.reset()
      const run = (statements: readonly string[]): Promise<unknown> =>
        rig.servers.sql(
          rig.servers.primary(),
          ...statements.map((text) =>
            text.replaceAll(/\bT\b/g, 'public.daybook_log').replaceAll(/\bK\b/g, 'daybook_log_pkey'),
          ),
        )
      await untilFound(rig, null)
      for (const [name, breaking, repairing, complaint] of FAULTS) {
        await t.test(`not when ${name}`, async () => {
          await run(breaking)
          try {
            await untilFound(rig, complaint)
            await using table = rig.open()
            await assert.rejects(table.lead(0), TableError)
          } finally {
            await run(repairing)
          }
          await untilFound(rig, null)
        })
      }
    })

    test('needs the table', async () => {
      const rig = await openRig()
      await rig.reset()
      await rig.servers.sql(rig.servers.primary(), 'DROP TABLE public.daybook_log')
      assert.match((await inspect(rig)).join(), /there is no table public\.daybook_log/)
      await using table = rig.open()
      await assert.rejects(table.look(1, 1, 0), /there is no table public\.daybook_log/)
      await assert.rejects(table.lead(0), /there is no table public\.daybook_log/)
    })

    test('has plain names', () => {
      assert.equal(setupSql('a; DROP TABLE x', 'postgres'), null)
      assert.equal(setupSql('daybook', 'Main'), null)
    })

    test('lets the role of a node change nothing', async () => {
      const rig = await openRig()
      await rig.reset()
      for (const statement of [
        'UPDATE public.daybook_log SET place = 2',
        'DELETE FROM public.daybook_log',
        'TRUNCATE public.daybook_log',
        'DROP TABLE public.daybook_log',
        'ALTER TABLE public.daybook_log ADD x text',
        'CREATE TABLE public.mine (n integer)',
        'CREATE RULE r AS ON INSERT TO public.daybook_log DO INSTEAD NOTHING',
      ]) {
        const asNode = rig.servers.sql(rig.servers.primary(), 'SET ROLE daybook', statement)
        await assert.rejects(asNode, { code: '42501' }, statement)
      }
    })
  })
}

function inspect(rig: PostgresTableRig): Promise<readonly string[]> {
  return inspectTable(parseDatabaseUrl(rig.servers.url(), null), false, null)
}

/** Waits until the only complaint fits a pattern; null waits until there is none. A reloaded setting takes a moment. */
async function untilFound(rig: PostgresTableRig, complaint: RegExp | null): Promise<void> {
  for (const endMs = performance.now() + WAIT_MS; ; await sleep(LOOK_MS)) {
    const found = await inspect(rig)
    const isFound = complaint === null ? found.length === 0 : found.some((one) => complaint.test(one))
    if (isFound) return
    assert.ok(performance.now() < endMs, `${String(complaint)}: ${found.join('; ')}`)
  }
}
