import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { moved, PAYING, RUNNING } from '../../../test/held/held-drafts.ts'
import { openHeldStage } from '../../../test/held/held-stage.ts'

suite('a draft with a transaction', () => {
  test('is held until the chain says that it is final', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'))
    assert.equal(await stage.send(moved('pay', 'payout/winner', '10', { tx: 'a' })), 'pay held')
    assert.equal(stage.published().at(-1), 'prize/winner 10')
    assert.equal(await stage.settle(['a']), '1 published, 0 failed, 0 refused')
    assert.equal(stage.published().at(-1), 'payout/winner 10')
    assert.deepEqual(stage.held(), [])
    assert.equal(await stage.send(moved('pay', 'payout/winner', '10', { tx: 'a' })), 'pay duplicate')
  })

  test('is published at once when no chain is configured', async () => {
    using stage = openHeldStage({ asksChain: false })
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'))
    assert.equal(await stage.send(moved('pay', 'payout/winner', '10', { tx: 'a' })), 'pay published')
  })

  test('is never published when it failed, and is listed with its reason', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'))
    const pay = moved('pay', 'payout/winner', '10', { tx: 'a' })
    await stage.send(pay)
    assert.equal(await stage.settle(['a'], 'failed'), '0 published, 1 failed, 0 refused')
    assert.equal(await stage.settle(['a']), '0 published, 0 failed, 0 refused')
    assert.deepEqual(
      stage
        .queue()
        .held.listSettled('failed', 0, 10)
        .map(({ ref, state, reason }) => [ref, state, reason]),
      [['pay', 'failed', 'the transaction failed']],
    )
    assert.equal(await stage.send(pay), 'pay failed')
    stage.reopen()
    assert.equal(await stage.send(pay), 'pay failed')
    assert.equal(await stage.send({ ...pay, kots: '9' }), '0: ref-conflict ref was used for another content')
  })

  test('survives a restart', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING)
    await stage.send(moved('pay', 'play/entry', '3', { tx: 'a', details: { count: 7 } }))
    stage.reopen()
    assert.deepEqual(stage.held(), ['pay'])
    assert.equal(
      await stage.send(moved('pay', 'play/entry', '3.0', { tx: 'a', details: { count: 7 } })),
      'pay held',
    )
    await stage.settle(['a'])
    assert.equal(stage.published().at(-1), 'play/entry 3')
  })
})
