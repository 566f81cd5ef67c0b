import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { moved, PAYING, sent } from '../../../test/held/held-drafts.ts'
import { openPublishStage, receipts, trade } from '../../../test/stage/publish-stage.ts'

suite('the private publish API of a service that asks a chain', () => {
  test('answers held without a seq, publishes the rest, and says how many are held in a refusal', async () => {
    await using stage = await openPublishStage('refuse', true)
    await stage.publish(PAYING)
    const { json } = await stage.publish([
      { ...sent('a', 'pool/top_up', '50'), tx: 'transaction-a' },
      trade('t'),
      moved('won', 'prize/winner', '150'),
    ])
    assert.deepEqual(json.drafts, [
      { ref: 'a', status: 'held' },
      { ref: 't', status: 'published', seq: PAYING.length + 1 },
      { ref: 'won', status: 'held' },
    ])
    const refused = await stage.publish([moved('more', 'prize/winner', '1')])
    assert.equal(refused.status, 200, 'the pool of the published books has it')
    const much = await stage.publish([moved('much', 'prize/winner', '1000')])
    assert.equal(much.status, 409)
    assert.equal((JSON.parse(much.text) as { held?: number }).held, 2)
    await stage.restart()
    assert.deepEqual(receipts(await stage.publish([moved('won', 'prize/winner', '150')])), [
      ['won', 'held', undefined],
    ])
  })
})
