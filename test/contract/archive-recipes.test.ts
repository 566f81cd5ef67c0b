import { DuckDBInstance } from '@duckdb/node-api'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { seqOf } from '../../src/protocol/seq.ts'
import { openApiStage } from '../stage/api-stage.ts'
import { plain } from '../web/parity/page-tree.ts'
import { openFolder } from '../story/damaged-log.ts'

suite('the recipes on the archive page', () => {
  test('sum the same payments from the month files in DuckDB as the events, less what is corrected', async () => {
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
    const page = await (await stage.get('/archive')).text()
    const [sql] = /SELECT[^;]+;/.exec(plain(page)) ?? []
    assert.ok(sql !== undefined, 'the page shows how')
    using directory = openFolder()
    const archive = (await (await stage.get('/api/v1/archive')).json()) as { months: { month: string }[] }
    for (const { month } of archive.months) {
      const file = await (await stage.get(`/api/v1/archive/${month}.jsonl.gz`)).bytes()
      writeFileSync(join(directory.path, `${month}.jsonl.gz`), file)
    }
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    await connection.run(`SET file_search_path = '${directory.path}'`)
    const rows = (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(String))
    connection.closeSync()
    assert.deepEqual(rows, [['2026-10-01 00:00:00', '14.500000000']])
  })
})
