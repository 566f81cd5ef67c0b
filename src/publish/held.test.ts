import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { contest, moved, PAYING, RUNNING, sent } from '../../test/held/held-drafts.ts'
import { openHeldStage } from '../../test/held/held-stage.ts'

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
        .held.listEnded('failed', 0, 10)
        .map(({ ref, state, reason }) => [ref, state, reason]),
      [['pay', 'failed', 'the transaction failed']],
    )
    assert.equal(await stage.send(pay), 'pay failed')
    stage.reopen()
    assert.equal(await stage.send(pay), 'pay failed')
    assert.equal(await stage.send({ ...pay, kots: '9' }), '0: ref-conflict ref was used for other content')
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

  test('is published by itself after a commit of the release failed', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'))
    await stage.send(sent('a', 'payout/winner', '10'), sent('b', 'payout/winner', '10'))
    await stage.settle(['a', 'b'])
    assert.equal(stage.held().length, 1)
    stage.believeClock(false)
    stage.reopen({ balances: 'report' })
    await sleep(10)
    stage.believeClock(true)
    assert.equal(stage.held().length, 1)
    const endMs = performance.now() + 10_000
    while (stage.held().length > 0 && performance.now() < endMs) await sleep(20)
    assert.deepEqual(stage.held(), [])
    assert.equal(stage.published().filter((event) => event === 'payout/winner 10').length, 2)
  })

  test('is held in a log without events', async () => {
    using stage = openHeldStage()
    const deposit = { ref: 'coins', type: 'treasury', kind: 'deposit', kots: '5', tx: 'a' }
    assert.equal(await stage.send(deposit), 'coins held')
    stage.reopen()
    assert.equal(await stage.settle(['a']), '1 published, 0 failed, 0 refused')
  })

  test('waits for no draft of another contest, and a draft of no contest for none at all', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'), sent('play', 'pool/top_up', '1'))
    const month = { details: { month: '2026-10' } }
    const loyalty = { ref: 'l', type: 'payout', kind: 'loyalty', kots: '0', tx: 'l', ...month }
    assert.equal(await stage.send(loyalty), 'l held')
    assert.match(await stage.send({ ...loyalty, ref: 'm', kots: '1' }), /^0: insufficient-balance/)
    assert.equal(await stage.settle(['l']), '1 published, 0 failed, 0 refused')
  })

  test('is published with or without a contest once a final payment of another contest fills the treasury', async () => {
    using stage = openHeldStage()
    const spent = { ref: 'spent', type: 'burn', kind: 'platform_income', kots: '890' }
    await stage.send(
      ...RUNNING,
      contest('scheduled', 2),
      sent('gift', 'pool/top_up', '50', { contestId: 2 }),
      { ...spent, ref: 'burn', kots: '30', tx: 'burn' },
      spent,
    )
    assert.equal(await stage.settle(['gift', 'burn']), '0 published, 0 failed, 2 refused')
    await stage.send(sent('play', 'play/entry', '70'))
    assert.equal(await stage.settle(['play']), '3 published, 0 failed, 0 refused')
    const last = ['play/entry 70', 'pool/top_up 50', 'burn/platform_income 30']
    assert.deepEqual(stage.published().slice(-3), last)
  })

  test('stays held when a later request of the same commit is refused', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING)
    const statuses = await Promise.all([
      stage.send(sent('a', 'pool/top_up', '50')),
      stage.send(sent('b', 'pool/top_up', '50'), moved('x', 'prize/winner', '1000')),
      stage.send(moved('y', 'prize/winner', '150')),
      stage.send(moved('z', 'pool/sponsor', '1')),
    ])
    assert.match(statuses.join('; '), /^a held; 1: insufficient-balance .*; y held; z published$/)
    assert.deepEqual(stage.held(), ['a', 'y'])
  })

  test('is not counted in the refusal of its own request, which drops it', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING)
    const request = [sent('a', 'pool/top_up', '50'), moved('x', 'prize/winner', '1000')]
    const alone = await stage.outcome(request)
    assert.ok(!alone.ok && alone.code === 'insufficient-balance' && alone.held === undefined)
    await stage.send(sent('b', 'pool/top_up', '50'))
    const beside = await stage.outcome(request)
    assert.ok(!beside.ok && beside.held === 1)
  })
})
