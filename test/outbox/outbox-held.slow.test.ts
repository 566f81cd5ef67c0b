import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { suite, test } from 'node:test'
import { outboxSql, parseOutboxTable } from '../../src/outbox/outbox-sql.ts'
import { deposit, FINAL_MS, openFinalityStage } from '../finality/finality-stage.ts'
import { run } from '../stage/command-stage.ts'
import { LOCAL_TOKEN } from '../stage/manual-node.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { hasPostgres, startPostgresServer } from '../database/postgres-server.ts'
import { openFolder } from '../story/damaged-log.ts'

suite('an outbox before a chain', { skip: skipUnless(hasPostgres, 'postgresql') }, () => {
  test('waits at a row that held drafts obstruct, and goes on when they are final', async () => {
    using folder = openFolder()
    await using stage = await openFinalityStage()
    await using server = await startPostgresServer(folder.path)
    const psql = (text: string): string =>
      server.run('psql', [server.url(), '-qAt', '-v', 'ON_ERROR_STOP=1'], text)
    const tx = stage.chain.txOf(1)
    const drafts = [
      deposit('paid-in', tx),
      { ref: 'burned', type: 'burn', kind: 'platform_income', kots: '3' },
      { ref: 'bought', type: 'trade', kind: 'buy', kots: '1' },
    ]
    psql(outboxSql(parseOutboxTable('daybook_outbox')))
    for (const draft of drafts) {
      psql(`INSERT INTO daybook_outbox (draft) VALUES ('${JSON.stringify(draft)}')`)
    }
    const tokenFile = join(folder.path, 'token')
    writeFileSync(tokenFile, LOCAL_TOKEN)
    const stderr = new PassThrough()
    let said = ''
    stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const words = [
      'publish',
      '--from',
      server.url(),
      '--to',
      stage.publishUrl(),
      '--token-file',
      tokenFile,
      '--once',
    ]
    const running = run(words, { stderr })
    await stage.until('the drainer waits', () => said.includes('; waiting for held drafts (1)'))
    assert.match(said, /^row [0-9a-f-]{36}, kots: /)
    assert.equal(psql('SELECT status FROM daybook_outbox ORDER BY pos'), 'held\n\n\n')
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    const { code, stdout } = await running
    assert.deepEqual([code, stdout], [0, '2 published, 0 duplicates skipped, 1 held\n'])
    assert.deepEqual(
      stage.lines().map((line) => /"type":"(\w+)"/.exec(line)?.[1]),
      ['treasury', 'burn', 'trade'],
    )
  })
})
