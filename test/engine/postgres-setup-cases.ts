import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { run } from '../stage/command-stage.ts'
import type { PostgresRig } from './postgres-rig.ts'

/** Number of a stream that no other suite makes. */
const STREAM = '4711'

/** Tests of `daybook cluster init` on a primary with a synchronous standby. */
export function testPostgresSetup(openRig: () => Promise<PostgresRig>, skip: string | false): void {
  suite('daybook cluster init', { skip, timeout: 200_000 }, () => {
    const init = (url: string, ...words: readonly string[]): ReturnType<typeof run> =>
      run(['cluster', 'init', url, ...words])

    test('makes the table and the role, and prints what it did and what is left to do', async () => {
      const rig = await openRig()
      const { code, stdout, stderr } = await init(rig.url('tester'), '--stream', STREAM, '--role', 'another')
      assert.deepEqual([code, stderr], [0, ''])
      const table = `public.daybook_commits_${STREAM}`
      assert.match(stdout, /^CREATE ROLE another LOGIN;\nGRANT pg_read_all_stats TO another;$/m)
      assert.match(stdout, new RegExp(`^GRANT SELECT, INSERT ON ${table} TO another;$`, 'm'))
      assert.match(stdout, /^REVOKE ALL ON DATABASE postgres FROM PUBLIC;$/m)
      assert.match(stdout, /^GRANT CONNECT ON DATABASE postgres TO another;$/m)
      assert.match(stdout, /with the user another$/m)
      const settings =
        /^-- postgresql\.conf.*\n((?:\w+ = .*\n)+)/m.exec(stdout)?.[1]?.trim().split('\n') ?? []
      assert.equal(settings.length, 4)
      const example = textOf('ops/postgres/daybook.conf').split('\n')
      for (const line of settings) assert.ok(example.includes(line), line)

      await using engine = rig.connect({ stream: Number(STREAM), url: rig.url('another') })
      assert.deepEqual(await engine.inspect(), [])
      assert.equal(await engine.log.append(1, new Uint8Array(1)), 'appended')
    })

    test('refuses a table that is there, a name that needs quotes, and another engine', async () => {
      const rig = await openRig()
      const again = await init(rig.url('tester'), '--stream', STREAM)
      assert.deepEqual([again.code, again.stdout], [1, ''])
      assert.match(again.stderr, /the table public\.daybook_commits_4711 is there already/)
      assert.match((await init(rig.url('tester'), '--role', 'a"b')).stderr, /a-z, 0-9 and _/)
      assert.equal((await init('mysql://a/b')).code, 2)
      assert.match((await init('postgres://a@127.0.0.1:1/b')).stderr, /127\.0\.0\.1:1/)
    })

    test('refuses servers without a standby, unless one database is accepted', async () => {
      const rig = await openRig()
      await rig.sql(
        rig.primary(),
        "ALTER SYSTEM SET synchronous_standby_names = ''",
        'SELECT pg_reload_conf()',
      )
      try {
        const refused = await init(rig.url('tester'), '--stream', '4712')
        assert.equal(refused.code, 1)
        assert.match(refused.stderr, /synchronous_standby_names is empty/)
        const { code, stdout } = await init(rig.url('tester'), '--stream', '4712', '--single-database')
        assert.equal(code, 0)
        assert.doesNotMatch(stdout, /synchronous_standby_names/)
        assert.match(stdout, /with --single-database$/m)
      } finally {
        await rig.sql(
          rig.primary(),
          'ALTER SYSTEM RESET synchronous_standby_names',
          'SELECT pg_reload_conf()',
        )
        await rig.untilSynchronous()
      }
    })
  })
}
