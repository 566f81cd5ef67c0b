import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { moved, PAYING, payouts, sent } from '../../test/held/held-drafts.ts'
import { CHAIN, openHeldStage } from '../../test/held/held-stage.ts'

const WON = moved('won', 'prize/winner', '90')

suite('held drafts', () => {
  test('of a commit that a full disk refused are forgotten, and can be sent again', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, ...payouts(0, 500))
    stage.limitPages(true)
    assert.match(await stage.send(...payouts(500, 2_000)), /^null: store-full/)
    const refused = await stage.queue().held.settle(
      payouts(0, 500).map(({ ref }) => ({ tx: `transaction-${ref}`, is: 'final', place: 'slot 1' })),
      CHAIN,
    )
    assert.ok(!refused.ok && refused.code === 'store-full')
    assert.equal(stage.queue().held.asked().length, 500)
    stage.limitPages(false)
    const outcome = await stage.outcome(payouts(500, 2_000))
    assert.ok(outcome.ok)
    assert.equal(
      await stage.settle(payouts(0, 2_500).map(({ ref }) => ref)),
      '2500 published, 0 failed, 0 refused',
    )
  })

  test('stay held at the word of another chain than the one that settled the log first', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, ...payouts(0, 2))
    assert.equal(await stage.settle(['pay-0']), '1 published, 0 failed, 0 refused')
    const word = { tx: 'transaction-pay-1', is: 'failed', place: 'slot 1', reason: 'it failed' } as const
    const ignored = { ok: true, published: 0, failed: 0, refused: 0 }
    assert.deepEqual(await stage.queue().held.settle([word], 'another-chain'), ignored)
    assert.deepEqual(stage.held(), ['pay-1'])
    assert.equal(await stage.settle(['pay-1']), '1 published, 0 failed, 0 refused')
  })

  test('stay held while the clock of the machine is wrong', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, ...payouts(0, 1))
    stage.believeClock(false)
    const word = { tx: 'transaction-pay-0', is: 'final', place: 'slot 1' } as const
    const refused = await stage.queue().held.settle([word], CHAIN)
    assert.ok(!refused.ok && refused.code === 'clock')
    stage.believeClock(true)
    assert.equal(await stage.settle(['pay-0']), '1 published, 0 failed, 0 refused')
  })

  test('of one contest cost what they are many, also when all wait for one', async () => {
    const each: number[] = []
    for (const count of [1_000, 8_000]) {
      using stage = openHeldStage()
      await stage.send(...PAYING, sent('a', 'pool/top_up', '50'), moved('won', 'prize/winner', '150'))
      // Published drafts between the held ones change the books of the same contest.
      const drafts = payouts(0, count).flatMap((draft, index) =>
        index % 8 === 0 ? [draft, moved(`gift-${index}`, 'pool/sponsor', '0.001')] : [draft],
      )
      const began = process.cpuUsage()
      const outcome = await stage.outcome(drafts)
      assert.ok(outcome.ok)
      const { user, system } = process.cpuUsage(began)
      each.push((user + system) / count)
    }
    const [few = 0, many = 0] = each
    assert.ok(many < few * 6, `${few} µs each of 1,000, ${many} µs each of 8,000`)
  })
})
