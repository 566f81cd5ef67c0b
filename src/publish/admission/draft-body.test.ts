import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseDrafts } from './draft-body.ts'

const DRAFTS = 1_000

suite('the drafts of a request', () => {
  test('leave the thread to other work between fifty of them', async () => {
    const drafts = Array.from({ length: DRAFTS }, (_, number) => ({
      ref: `draft-${number}`,
      type: 'trade',
      kind: 'buy',
      kots: '1',
    }))
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const body = await parseDrafts(Buffer.from(JSON.stringify(drafts)), false, 'opaque')
    isDone = true
    assert.ok(body.ok)
    assert.equal(body.drafts.length, DRAFTS)
    assert.ok(turns >= DRAFTS / 50 - 1, `${turns} turns`)
  })
})
