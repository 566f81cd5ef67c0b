import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { openTableStage, type TableStage } from '../log/table-stage.ts'

suite('a node whose file of the primary is damaged', { skip: skipUnless(hasPostgres, 'PostgreSQL') }, () => {
  let stage: TableStage
  before(async () => {
    stage = await openTableStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('refuses to start, and says what to do', async () => {
    const table = await stage.movedLog('damaged', 1)
    writeFileSync(join(stage.pathOf('damaged'), 'primary'), '')
    const starting = stage.start('damaged', table)
    await assert.rejects(starting, (error: Error) => {
      assert.equal(error.name, 'CommandError')
      assert.match(
        error.message,
        /primary names no primary: remove it if the database is the one of this log/,
      )
      return true
    })
  })
})
