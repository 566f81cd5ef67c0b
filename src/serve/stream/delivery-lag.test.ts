import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openClient } from '../../../test/stage/stream-client.ts'
import { openStage } from '../../../test/stage/stream-stage.ts'

suite('the delivery lag', () => {
  test('is the age of the oldest event that live streams lacked, when all of them had it', async () => {
    const lags: number[] = []
    // Event n is n ms after the launch, and the clock stands 1,000 ms after it.
    await using stage = await openStage({ nowMs: 1_000, onDelivered: (ms) => lags.push(ms) })
    stage.publish(3)
    assert.deepEqual(lags, [], 'without streams nothing is measured')
    using history = await openClient(stage.port, { path: '?after=0' })
    await history.until(() => history.seqs().length === 3)
    assert.deepEqual(lags, [], 'a stream that reads history is not measured')
    stage.publish(2)
    await history.until(() => history.seqs().length === 5 && lags.length > 0)
    assert.deepEqual(lags, [996], 'event 4 was the oldest')
  })
})
