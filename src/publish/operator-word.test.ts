import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { contest, moved, PAYING, sent } from '../../test/held/held-drafts.ts'
import { CHAIN, openHeldStage, txOf } from '../../test/held/held-stage.ts'

const WON = moved('won', 'prize/winner', '30')

suite('the operator', () => {
  test('vouches for a transaction in place of the chain, which is counted', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, sent('a', 'payout/winner', '10'), sent('b', 'payout/winner', '19'))
    await stage.send(moved('lapsed', 'expiry/winner', '1'))
    const outcome = await stage.queue().held.vouch(['a', 'lapsed', 'nobody'], 'the node is blind')
    assert.deepEqual(outcome, {
      ok: true,
      drafts: [
        { ref: 'a', status: 'published', seq: PAYING.length + 2 },
        { ref: 'lapsed', status: 'held', chain: 'none', reason: null },
        { ref: 'nobody', status: 'unknown' },
      ],
    })
    assert.equal(stage.counts().vouched, 1)
    stage.reopen()
    assert.equal(stage.counts().vouched, 1)
  })

  test('fills the treasury, and what had lacked it is published, in any contest', async () => {
    using stage = openHeldStage()
    const spent = { ref: 'spent', type: 'burn', kind: 'platform_income', kots: '890' }
    await stage.send(...PAYING, sent('fund-2', 'pool/top_up', '50'), spent)
    await stage.settle(['fund-2'])
    assert.deepEqual(stage.held(), ['fund-2 (kots: treasury holds 10.000000000, less than 50.000000000)'])
    await stage.send({ ref: 'deposit-2', type: 'treasury', kind: 'deposit', kots: '40' })
    assert.deepEqual(stage.held(), [])
    assert.deepEqual(stage.published().slice(-2), ['treasury/deposit 40', 'pool/top_up 50'])
  })

  test('asks the books again after another contest filled the treasury, and so does a start', async () => {
    for (const asks of ['command', 'start']) {
      using stage = openHeldStage()
      const spent = { ref: 'spent', type: 'burn', kind: 'platform_income', kots: '890' }
      const gift = sent('gift', 'pool/top_up', '50', { contestId: 2 })
      await stage.send(...PAYING, contest('scheduled', 2), gift, spent)
      await stage.settle(['gift'])
      await stage.send(moved('rest', 'pool/returned', '100'))
      assert.deepEqual(stage.held(), ['gift (kots: treasury holds 10.000000000, less than 50.000000000)'])
      if (asks === 'command') await stage.queue().held.release([])
      else stage.reopen()
      // This draft does not concern the treasury. Its commit comes after that of the start.
      await stage.send(contest('scheduled', 3))
      assert.deepEqual(stage.held(), [], asks)
    }
  })

  test('asks the books again, and never overrides the chain', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, sent('pay', 'payout/winner', '30'))
    assert.deepEqual(await stage.queue().held.release(['pay', 'won']), {
      ok: true,
      drafts: [
        { ref: 'pay', status: 'held', chain: 'asked', reason: null },
        { ref: 'won', status: 'published', seq: PAYING.length + 1 },
      ],
    })
  })

  test('drops a held draft, whose ref says so for ever', async () => {
    using stage = openHeldStage()
    const pay = sent('pay', 'payout/winner', '30')
    await stage.send(...PAYING, WON, pay)
    await stage.queue().held.drop(['pay'], 'paid twice')
    assert.equal(await stage.send(pay), 'pay dropped')
    assert.deepEqual(await stage.queue().held.vouch(['pay'], 'no'), {
      ok: true,
      drafts: [{ ref: 'pay', status: 'dropped', reason: 'paid twice' }],
    })
    stage.reopen()
    assert.equal(await stage.send(pay), 'pay dropped')
    const { failed, dropped, held, oldestMs } = stage.counts()
    assert.deepEqual([failed, dropped, held, oldestMs], [0, 1, 0, null])
  })

  test('vouches without --finality until the chain is asked again, also for what waits for its contest', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('fund-2', 'pool/top_up', '50'))
    stage.reopen({ asksChain: false })
    const won = moved('won', 'prize/winner', '150')
    assert.equal(await stage.send(won, sent('pay', 'payout/winner', '150')), 'won held, pay held')
    stage.reopen()
    await stage.settle(['fund-2'])
    assert.deepEqual(stage.held(), ['pay'], 'no chain has called it final')
    await stage.settle(['pay'])
    assert.deepEqual(stage.published().slice(-2), ['prize/winner 150', 'payout/winner 150'])
  })

  test('finds drafts held without --finality again, and moves them alone', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, sent('pay', 'payout/winner', '30'))
    stage.reopen({ asksChain: false })
    assert.equal(await stage.send(moved('lapsed', 'expiry/winner', '20')), 'lapsed held')
    assert.equal(await stage.send(sent('b', 'payout/winner', '1')), 'b published')
    assert.deepEqual(stage.held(), ['pay', 'lapsed'])
    await stage.queue().held.drop(['pay'], 'paid by b')
    assert.equal(stage.published().at(-1), 'expiry/winner 20')
  })
})

suite('held drafts', () => {
  test('of several contests and of none that were settled together are published in order of acceptance', async () => {
    using stage = openHeldStage()
    const drafts = [
      ...PAYING,
      contest('scheduled', 2),
      sent('a', 'pool/sponsor', '1'),
      sent('b', 'pool/sponsor', '2', { contestId: 2 }),
      { ref: 'c', type: 'burn', kind: 'platform_income', kots: '3', tx: 'c' },
      sent('d', 'pool/sponsor', '4'),
      sent('e', 'pool/sponsor', '5', { contestId: 2 }),
    ]
    await stage.send(...drafts)
    await stage.settle(['e', 'c', 'a', 'd', 'b'])
    assert.deepEqual(stage.published().slice(-5), [
      'pool/sponsor 1',
      'pool/sponsor 2',
      'burn/platform_income 3',
      'pool/sponsor 4',
      'pool/sponsor 5',
    ])
  })

  test('of one transaction are settled together', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON)
    await stage.send(
      moved('x', 'payout/winner', '10', { tx: 'same' }),
      moved('y', 'payout/winner', '20', { tx: 'same' }),
    )
    assert.equal(await stage.settle(['same']), '2 published, 0 failed, 0 refused')
  })

  test('of one transaction that were accepted after its amounts were compared wait for the next word', async () => {
    using stage = openHeldStage()
    const paid = moved('x', 'payout/winner', '10', { tx: 'same' })
    await stage.send(...PAYING, WON, paid)
    const [compared] = stage.queue().held.asked()
    await stage.send(moved('y', 'payout/winner', '20', { tx: 'same' }))
    const drafts = [compared?.id ?? 0]
    await stage.queue().held.settle([{ tx: txOf('same'), is: 'final', place: 'slot 1', drafts }], CHAIN)
    assert.deepEqual(stage.held(), ['y'])
    assert.equal(stage.queue().held.asked().length, 1)
  })

  test('stay held with the reason when they exceed what their transaction moved, until they are final', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, sent('pay', 'payout/winner', '30'))
    assert.equal(await stage.settle(['pay'], 'excess'), '0 published, 0 failed, 0 refused')
    assert.deepEqual(stage.held(), ['pay (more than was moved)'])
    assert.equal(stage.queue().held.asked().length, 1)
    assert.equal(stage.counts().refused, 1)
    await stage.settle(['pay'])
    assert.deepEqual(stage.held(), [])
  })

  test('have the moment of their publication', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('a', 'pool/top_up', '1'))
    assert.equal(stage.counts().oldestMs, Date.UTC(2026, 9, 1))
    stage.clock(90_000)
    await stage.settle(['a'])
    assert.match(stage.lines().at(-1) ?? '', /"at":"2026-10-01T00:01:30.000Z"/)
  })
})
