import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { contest, moved, PAYING, RUNNING, sent } from '../../test/held/held-drafts.ts'
import { openHeldStage } from '../../test/held/held-stage.ts'

suite('a draft whose only obstacle is held drafts of its contest', () => {
  test('is held with them, and published after them: a prize after a held top_up', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING)
    assert.equal(await stage.send(sent('a', 'pool/top_up', '50')), 'a held')
    assert.equal(await stage.send(moved('won', 'prize/winner', '150')), 'won held')
    assert.equal(await stage.settle(['a']), '2 published, 0 failed, 0 refused')
    assert.deepEqual(stage.published().slice(-2), ['pool/top_up 50', 'prize/winner 150'])
  })

  test('is held with them in the same request, of which the rest is published at once', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING)
    const drafts = [
      sent('a', 'pool/top_up', '50'),
      moved('small', 'prize/winner', '10'),
      moved('large', 'prize/winner', '140'),
      sent('pay', 'payout/winner', '150'),
    ]
    assert.equal(await stage.send(...drafts), 'a held, small published, large held, pay held')
    assert.equal(await stage.send(...drafts), 'a held, small duplicate, large held, pay held')
    await stage.settle(['pay'])
    assert.equal(stage.published().at(-1), 'prize/winner 10')
    await stage.settle(['a'])
    assert.deepEqual(stage.published().slice(-3), ['pool/top_up 50', 'prize/winner 140', 'payout/winner 150'])
  })

  test('lets a contest end while its play, its payouts and all after them are held', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING)
    const end = [
      sent('play', 'play/entry', '5'),
      contest('closed'),
      moved('won', 'prize/winner', '60'),
      moved('review', 'hold/winner', '0', {
        kots: null,
        details: { reviewUntil: '2026-11-01T00:00:00.000Z' },
      }),
      sent('pay-1', 'payout/winner', '20'),
      sent('pay-2', 'payout/winner', '30'),
      moved('lapsed', 'expiry/winner', '10'),
      moved('rest', 'pool/returned', '40'),
      contest('paid'),
    ]
    const statuses = await stage.send(...end)
    assert.equal(statuses, end.map(({ ref }) => `${ref} held`).join(', '))
    await stage.settle(['pay-2'])
    assert.equal(stage.published().length, RUNNING.length)
    await stage.settle(['play'])
    assert.deepEqual(stage.published().slice(RUNNING.length), [
      'play/entry 5',
      'contest/closed',
      'prize/winner 60',
      'hold/winner',
      'payout/winner 30',
    ])
    stage.reopen()
    await stage.settle(['pay-1'])
    assert.deepEqual(stage.published().slice(RUNNING.length + 5), [
      'payout/winner 20',
      'expiry/winner 10',
      'pool/returned 40',
      'contest/paid',
    ])
    assert.deepEqual(stage.held(), [])
  })

  test('waits for them also beside drafts of its contest that are published just then', async () => {
    using stage = openHeldStage({ balances: 'report' })
    await stage.send(...PAYING, moved('all', 'prize/winner', '100'))
    const drafts = [
      sent('a', 'pool/top_up', '50'),
      moved('won', 'prize/winner', '50'),
      sent('b', 'pool/top_up', '10'),
      moved('more', 'prize/winner', '10'),
      sent('pay', 'payout/winner', '155'),
    ]
    assert.equal(await stage.send(...drafts), drafts.map(({ ref }) => `${ref} held`).join(', '))
    await stage.settle(['pay'])
    await stage.settle(['b'])
    assert.deepEqual(stage.published().slice(-2), ['pool/top_up 10', 'prize/winner 10'])
    assert.deepEqual(stage.held(), ['a', 'won', 'pay'])
    assert.deepEqual(stage.irregular, [])
  })

  test('is published when another event lets it go', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('a', 'pool/top_up', '50'))
    assert.equal(await stage.send(moved('won', 'prize/winner', '150')), 'won held')
    assert.equal(await stage.send(moved('gift', 'pool/sponsor', '60')), 'gift published')
    assert.equal(stage.published().at(-1), 'prize/winner 150')
    assert.deepEqual(stage.held(), ['a'])
  })

  test('stays held with the reason of the books when what it waited for failed or was dropped', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('a', 'pool/top_up', '50'), sent('b', 'pool/top_up', '50'))
    assert.equal(await stage.send(moved('won', 'prize/winner', '200')), 'won held')
    await stage.settle(['a'], 'failed')
    assert.deepEqual(stage.held(), [
      'b',
      'won (kots: with the held drafts before it, pool:1 holds 150.000000000, less than 200.000000000)',
    ])
    assert.equal(stage.counts().refused, 1)
    await stage.queue().held.drop(['b'], 'paid twice')
    await stage.send(moved('more', 'pool/sponsor', '100'))
    assert.equal(stage.published().at(-1), 'prize/winner 200')
  })

  test('is published although the books refuse it with --balances report, but not while held drafts explain it', async () => {
    using stage = openHeldStage({ balances: 'report' })
    await stage.send(...PAYING, sent('a', 'pool/top_up', '50'))
    assert.equal(await stage.send(moved('won', 'prize/winner', '150')), 'won held')
    const burn = { ref: 'burn', type: 'burn', kind: 'platform_income', kots: '5000' }
    assert.equal(await stage.send(burn), 'burn published')
    assert.equal(stage.irregular.length, 1)
    await stage.settle(['a'], 'failed')
    assert.equal(stage.published().at(-1), 'prize/winner 150')
    assert.equal(stage.irregular.length, 2)
  })

  test('keeps waiting with --balances report after another release', async () => {
    using stage = openHeldStage({ balances: 'report' })
    await stage.send(...PAYING, sent('a', 'pool/top_up', '50'), sent('b', 'pool/top_up', '9'))
    await stage.send(moved('won', 'prize/winner', '150'))
    await stage.settle(['b'])
    assert.deepEqual(stage.held(), ['a', 'won'])
  })
})

suite('a draft that is not held', () => {
  test('is published at once, although drafts of its contest are held', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('a', 'pool/top_up', '50'))
    assert.equal(await stage.send(moved('won', 'prize/winner', '100')), 'won published')
    assert.equal(await stage.send(moved('fund-2', 'pool/top_up', '1')), 'fund-2 published')
  })

  test('is refused when only held drafts of another contest or of none would let it go', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, contest('scheduled', 2), sent('a', 'pool/sponsor', '500'))
    await stage.send({ ref: 'coins', type: 'treasury', kind: 'deposit', kots: '5000', tx: 'coins' })
    const second = moved('fund-2', 'pool/top_up', '4000', { contestId: 2 })
    assert.match(await stage.send(second), /^0: insufficient-balance kots treasury holds 900\./)
    const burn = { ref: 'burn', type: 'burn', kind: 'platform_income', kots: '4000' }
    assert.match(await stage.send(burn), /^0: insufficient-balance/)
  })

  test('is refused when its contest with all held drafts would refuse it too', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('a', 'pool/top_up', '50'))
    assert.match(await stage.send(moved('won', 'prize/winner', '151')), /^0: insufficient-balance/)
    assert.match(await stage.send({ ...contest('opened'), ref: 'again' }), /^0: wrong-state/)
  })

  test('is judged by books in which a publication counts once and a failed draft no more', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, sent('a', 'play/entry', '500'))
    // The treasury has 900, and 1,400 with the held play.
    const refusedAt = async (kots: string): Promise<string> => stage.send(moved(kots, 'pool/top_up', kots))
    assert.match(await refusedAt('1401'), /treasury holds 900\.0{9}, /)
    await stage.send(moved('play', 'play/entry', '5'))
    assert.match(await refusedAt('1406'), /treasury holds 905\.0{9}, /)
    assert.equal(await refusedAt('1405'), '1405 held')
    await stage.queue().held.drop(['1405'], 'an example')
    await stage.settle(['a'], 'failed')
    assert.match(await refusedAt('906'), /treasury holds 905\.0{9}, /)
  })

  test('blocks no held draft and reserves no balance: the first to be final takes it', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('won', 'prize/winner', '10'))
    await stage.send(sent('a', 'payout/winner', '10'), sent('b', 'payout/winner', '10'))
    assert.equal(await stage.settle(['b']), '1 published, 0 failed, 0 refused')
    assert.equal(await stage.settle(['a']), '0 published, 0 failed, 1 refused')
    assert.deepEqual(stage.held(), [
      'a (kots: unredeemed:1:winner holds 0.000000000, less than 10.000000000)',
    ])
  })
})

suite('a draft that takes what a held payment needs', () => {
  const correction = {
    ref: 'undo',
    type: 'correction',
    kind: 'prize',
    contestId: 1,
    kots: '-30',
    details: { corrects: PAYING.length + 1 },
  }
  const WON = moved('won', 'prize/winner', '30')

  for (const taking of [
    moved('lapsed', 'expiry/winner', '5'),
    moved('rest', 'pool/returned', '5'),
    correction,
  ]) {
    test(`waits for every earlier held draft of its contest: ${taking.type}/${taking.kind}`, async () => {
      using stage = openHeldStage()
      await stage.send(...PAYING, WON, sent('pay', 'payout/winner', '10'))
      assert.equal(await stage.send(taking), `${taking.ref} held`)
      assert.equal(await stage.settle(['pay']), '2 published, 0 failed, 0 refused')
    })

    test(`waits for no draft that was accepted after it: ${taking.type}/${taking.kind}`, async () => {
      using stage = openHeldStage()
      await stage.send(...PAYING, WON, sent('a', 'payout/winner', '10'), taking)
      await stage.send(sent('b', 'payout/winner', '10'))
      assert.equal(await stage.settle(['a']), '2 published, 0 failed, 0 refused')
      assert.deepEqual(stage.held(), ['b'])
    })
  }

  test('and names its own transaction is held until that is final too: pool/returned', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, sent('pay', 'payout/winner', '30'))
    assert.equal(
      await stage.send(sent('rest', 'pool/returned', '70'), contest('paid')),
      'rest held, paid-1 held',
    )
    await stage.settle(['rest'])
    assert.equal(stage.published().at(-1), 'prize/winner 30')
    await stage.settle(['pay'])
    assert.deepEqual(stage.published().slice(-3), ['payout/winner 30', 'pool/returned 70', 'contest/paid'])
  })

  test('such as contest/cancelled waits, and a refund is held after it', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, sent('play', 'play/entry', '5'))
    assert.equal(
      await stage.send(contest('cancelled'), sent('refund', 'payout/refund', '100'), contest('paid')),
      'cancelled-1 held, refund held, paid-1 held',
    )
    await stage.settle(['refund'])
    await stage.settle(['play'])
    assert.deepEqual(stage.published().slice(-4), [
      'play/entry 5',
      'contest/cancelled',
      'payout/refund 100',
      'contest/paid',
    ])
  })

  test('such as contest/paid waits for a held draft even when its accounts are empty', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, moved('rest', 'pool/returned', '100'), sent('a', 'pool/top_up', '1'))
    assert.match(await stage.send(contest('paid')), /^paid-1 held$/)
    await stage.settle(['a'], 'failed')
    assert.equal(stage.published().at(-1), 'contest/paid')
  })

  test('is refused when the books refuse it with and without the held drafts', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON, sent('pay', 'payout/winner', '10'))
    assert.match(await stage.send(moved('lapsed', 'expiry/winner', '31')), /^0: insufficient-balance/)
  })
})

suite('a running contest that pays', () => {
  const daily = moved('won', 'prize/daily', '10')

  test('publishes its prizes at once, and its payments when they are final', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, sent('play', 'play/entry', '5'))
    assert.equal(await stage.send(daily, sent('pay', 'payout/daily', '10')), 'won published, pay held')
    await stage.settle(['pay'])
    assert.deepEqual(stage.published().slice(-2), ['prize/daily 10', 'payout/daily 10'])
    assert.deepEqual(stage.held(), ['play'])
  })

  test('is cancelled after the payments that are held before it', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, daily, sent('pay', 'payout/daily', '10'))
    assert.equal(await stage.send(contest('cancelled')), 'cancelled-1 held')
    assert.equal(await stage.send(sent('refund', 'payout/refund', '90')), 'refund held')
    await stage.settle(['refund'])
    await stage.settle(['pay'])
    assert.deepEqual(stage.published().slice(-3), [
      'payout/daily 10',
      'contest/cancelled',
      'payout/refund 90',
    ])
  })

  test('publishes the prizes and payments that follow its held close after that close', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, sent('play', 'play/entry', '5'), contest('closed'))
    const review = { kots: null, details: { reviewUntil: '2026-11-01T00:00:00.000Z' } }
    const after = [daily, moved('review', 'hold/daily', '0', review), sent('pay', 'payout/daily', '10')]
    assert.equal(await stage.send(...after), 'won held, review held, pay held')
    await stage.settle(['pay'])
    assert.deepEqual(stage.published().length, RUNNING.length)
    await stage.settle(['play'])
    assert.deepEqual(stage.published().slice(RUNNING.length), [
      'play/entry 5',
      'contest/closed',
      'prize/daily 10',
      'hold/daily',
      'payout/daily 10',
    ])
  })
})

suite('contest/closed', () => {
  test('waits for a held play, which a closed contest would refuse for ever', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, sent('play', 'play/entry', '5'))
    assert.equal(await stage.send(contest('closed')), 'closed-1 held')
    await stage.settle(['play'])
    assert.deepEqual(stage.published().slice(-2), ['play/entry 5', 'contest/closed'])
  })

  test('waits for no other held draft', async () => {
    using stage = openHeldStage()
    await stage.send(...RUNNING, sent('a', 'pool/top_up', '5'))
    assert.equal(await stage.send(contest('closed')), 'closed-1 published')
  })
})

suite('a refusal of the books', () => {
  test('says how many drafts are held, since it may pass by itself', async () => {
    using stage = openHeldStage()
    const much = moved('won', 'prize/winner', '1000')
    const before = await stage.outcome([...PAYING, much])
    assert.ok(!before.ok && before.held === undefined)
    await stage.send(...PAYING, sent('a', 'pool/top_up', '1'))
    const one = await stage.outcome([much])
    assert.ok(!one.ok && one.held === 1)
    await stage.send(sent('b', 'pool/top_up', '2'))
    const outcome = await stage.outcome([sent('c', 'pool/top_up', '3'), much])
    assert.ok(!outcome.ok)
    assert.deepEqual([outcome.code, outcome.faults?.[0]?.index, outcome.held], ['insufficient-balance', 1, 2])
    const conflict = await stage.outcome([sent('a', 'pool/top_up', '9')])
    assert.ok(!conflict.ok && conflict.held === undefined)
  })

  test('leaves nothing of its request published or held', async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, sent('a', 'pool/top_up', '1'))
    const refused = [
      moved('x', 'pool/top_up', '100'),
      sent('y', 'pool/top_up', '100'),
      moved('z', 'prize/winner', '300'),
      moved('q', 'prize/winner', '1000'),
    ]
    assert.match(await stage.send(...refused), /^3: insufficient-balance/)
    assert.deepEqual(stage.held(), ['a'])
    assert.match(await stage.send(moved('z', 'prize/winner', '102')), /^0: insufficient-balance/)
    assert.equal(await stage.send(moved('z', 'prize/winner', '101')), 'z held')
    stage.reopen()
    assert.deepEqual(stage.held(), ['a', 'z'])
  })
})
