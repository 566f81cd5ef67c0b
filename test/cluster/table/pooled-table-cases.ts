import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ROW_BYTES_MAX } from '../../../src/cluster/table/log-table.ts'
import { askAt } from '../../database/administer.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { hasPooler, startPooler } from '../campaign/pooler.ts'
import type { PostgresTableRig } from './postgres-table-rig.ts'

/** Tests of a transaction pooler between the nodes and the primary. */
export function testTablePooler(openRig: () => Promise<PostgresTableRig>, skip: string | false): void {
  const lacks = skip === false ? skipUnless(hasPooler, 'pgbouncer') : skip
  suite('a table behind a transaction pooler', { skip: lacks, timeout: 120_000 }, () => {
    test('gives two nodes one lock, which the second of them tells', async () => {
      const rig = await openRig()
      await rig.reset()
      await using pooler = await startPooler(rig.servers.folder, rig.servers.primary().port, 'daybook')
      const url = `postgres://daybook@127.0.0.1:${pooler.port}/postgres?sslmode=disable`
      await using table = rig.open({ url })
      await using other = rig.open({ url })
      await using lead = await table.lead(0)
      assert.ok(lead !== null)
      await assert.rejects(other.lead(0), /connect to PostgreSQL itself, not to a pooler/)
    })

    test('takes no row of a leader whose session another node has taken over', async () => {
      const rig = await openRig()
      await rig.reset()
      await using pooler = await startPooler(rig.servers.folder, rig.servers.primary().port, 'daybook')
      const url = `postgres://daybook@127.0.0.1:${pooler.port}/postgres?sslmode=disable`
      await using table = rig.open({ url })
      await using lead = await table.lead(0)
      assert.ok(lead !== null)
      // A node that did not look would do the same: the server lets it.
      const [taken] = await askAt(url, [
        "SELECT current_setting('daybook.session') <> '' AS shared, set_config('daybook.session', 'other', false)",
      ])
      assert.equal(taken?.['shared'], true, 'the session is the same')
      assert.notEqual(await lead.append(1, new TextEncoder().encode('row 1')), 'appended')
      await lead.lost
      await using direct = rig.open()
      assert.equal((await direct.look(1, ROW_BYTES_MAX, 0)).last, 0)
    })
  })
}
