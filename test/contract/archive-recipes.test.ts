import { DuckDBInstance } from '@duckdb/node-api'
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { monthOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { LAUNCH } from '../story/api-story.ts'
import { parquetIn } from '../parquet/parquet-in.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { plain } from '../web/parity/page-tree.ts'

suite('the recipes on the archive page', () => {
  test('sum the same payments from the Parquet file in DuckDB as the events, less what is corrected', async () => {
    await using stage = await openApiStage()
    stage.append([
      {
        type: 'correction',
        kind: 'payout',
        contestId: 1,
        kots: '-15',
        details: { corrects: seqOf(10), reason: 'Twice' },
      },
      { type: 'payout', kind: 'voter_share', contestId: 1, kots: '14.5', tx: 'transaction-0002' },
    ])
    stage.import(['{"at":"2026-11-01T00:00:00.000Z","type":"treasury","kind":"deposit","kots":"1"}'])
    const [sql] = /SELECT[^;]+;/.exec(plain(await (await stage.get('/archive')).text())) ?? []
    assert.ok(sql !== undefined, 'the page shows how')
    const file = await parquetIn(stage.data).file(monthOf(LAUNCH))
    assert.ok(typeof file === 'object')
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    // A day of UTC begins on the day before in New York.
    await connection.run("SET TimeZone = 'America/New_York'")
    const here = sql.replace(/'http.*\/2026-10\.parquet'/, `'${file.path}'`)
    const rows = (await connection.runAndReadAll(here)).getRows().map((row) => row.map(String))
    connection.closeSync()
    assert.deepEqual(rows, [['2026-10-01 00:00:00', '14.500000000']])
  })
})
