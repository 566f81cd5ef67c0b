import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ClockOffset, LogEngine } from '../../src/engine/log-engine.ts'
import { ATTEMPT_MS_MAX } from '../../src/engine/log-engine.ts'
import type { MemoryEngine } from './memory-engine.ts'
import { openMemoryEngine } from './memory-engine.ts'

suite('the engine in memory', () => {
  test('appends at the next free place only', async () => {
    const engine: MemoryEngine = openMemoryEngine()
    await using connection = engine.connect()
    const { log }: { log: LogEngine } = connection
    assert.equal(await log.append(2, Buffer.from('b')), 'taken')
    assert.equal(await log.append(1, Buffer.from('a')), 'appended')
    assert.equal(await log.append(1, Buffer.from('a')), 'taken')
    assert.equal(await log.last(), 1)
    assert.deepEqual(
      (await log.read(1, 10)).map(({ place }) => place),
      [1],
    )
    const offset: ClockOffset = await connection.clockOffset()
    assert.ok(offset.errorMs < ATTEMPT_MS_MAX)
  })
})
