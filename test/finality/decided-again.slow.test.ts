import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DAY_MS } from '../../src/protocol/moment.ts'
import { deposit, FINAL_MS, openFinalityStage } from './finality-stage.ts'

suite('transactions that are decided are asked again', () => {
  test('and a contradiction is counted and logged with its seq, until it is gone', async () => {
    await using stage = await openFinalityStage({ rpcs: 2 })
    const tx = stage.chain.txOf(1)
    await stage.publish(deposit('a', tx), { ref: 'b', type: 'trade', kind: 'buy', kots: '1' })
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.until('the draft is published', () => stage.lines().length === 2)
    await stage.asked()
    assert.equal(await stage.metric('daybook_finality_contradictions'), 0)
    for (const server of stage.rpcs) server.setFaults({ lies: 'failure' })
    await stage.until(
      'it is counted',
      async () => (await stage.metric('daybook_finality_contradictions')) === 1,
    )
    assert.match(stage.logged(), /the chain contradicts event 2: its transaction failed, slot \d+/)
    stage.rpcs[0]?.setFaults({})
    await stage.asked()
    assert.equal(await stage.metric('daybook_finality_contradictions'), 1, 'one vote does not clear it')
    stage.rpcs[1]?.setFaults({})
    await stage.until('it is gone', async () => (await stage.metric('daybook_finality_contradictions')) === 0)
  })

  test('and a dropped draft whose transaction is final is a contradiction', async () => {
    await using stage = await openFinalityStage()
    const tx = stage.chain.txOf(1)
    await stage.publish(deposit('secret-ref', tx))
    const dropped = await stage.decide('drop', ['secret-ref'], 'a private reason')
    assert.match(dropped, /"status":"dropped"/)
    await stage.asked()
    assert.equal(await stage.metric('daybook_finality_contradictions'), 0)
    assert.equal(await stage.metric('daybook_finality_dropped_total'), 1)
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.until(
      'it is counted',
      async () => (await stage.metric('daybook_finality_contradictions')) === 1,
    )
    assert.match(stage.logged(), /the chain contradicts dropped draft 1: its transaction is final, slot \d+/)
    assert.ok(!/secret-ref|private reason/.test(stage.logged()), 'refs and reasons are not logged')
    assert.equal(stage.lines().length, 0)
  })

  test('and a dropped draft is none when its payment is published by another draft', async () => {
    await using stage = await openFinalityStage()
    const tx = stage.chain.txOf(1)
    await stage.publish(deposit('a', tx))
    await stage.decide('drop', ['a'], 'a mistake')
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    const contradictions = (): Promise<number> => stage.metric('daybook_finality_contradictions')
    await stage.until('it is counted', async () => (await contradictions()) === 1)
    await stage.publish(deposit('less', tx, '4'))
    await stage.until('another payment is published', () => stage.lines().length === 1)
    await stage.asked()
    assert.equal(await contradictions(), 1, 'another amount is another payment')
    await stage.publish(deposit('again', tx))
    await stage.until('it is gone', async () => (await contradictions()) === 0)
  })

  test('and a failed draft whose transaction is final is a contradiction, until its payment is published', async () => {
    await using stage = await openFinalityStage()
    const tx = stage.chain.txOf(1)
    for (const server of stage.rpcs) server.setFaults({ lies: 'failure' })
    await stage.publish(deposit('secret-ref', tx))
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    const contradictions = (): Promise<number> => stage.metric('daybook_finality_contradictions')
    await stage.until(
      'the draft failed',
      async () => (await stage.metric('daybook_finality_failed_total')) === 1,
    )
    await stage.asked()
    assert.equal(await contradictions(), 0)
    for (const server of stage.rpcs) server.setFaults({})
    await stage.until('it is counted', async () => (await contradictions()) === 1)
    assert.match(stage.logged(), /the chain contradicts failed draft 1: its transaction is final, slot \d+/)
    assert.ok(!stage.logged().includes('secret-ref'), 'refs are not logged')
    await stage.publish(deposit('again', tx))
    await stage.until('it is gone', async () => (await contradictions()) === 0)
  })

  test('for 30 days when they were published, and for 90 days when they were dropped', async () => {
    await using stage = await openFinalityStage()
    const [paid, dropped] = [stage.chain.txOf(1), stage.chain.txOf(2)]
    const counted = (number: number): Promise<void> =>
      stage.until(
        `${number} are counted`,
        async () => (await stage.metric('daybook_finality_contradictions')) === number,
      )
    stage.chain.send(paid)
    await stage.publish(deposit('paid', paid), deposit('dropped', dropped))
    stage.advance(FINAL_MS)
    await stage.until('the draft is published', () => stage.lines().length === 1)
    await stage.decide('drop', ['dropped'], 'replaced by another one')
    stage.advance(29 * DAY_MS)
    for (const server of stage.rpcs) server.setFaults({ lies: 'failure', liesAbout: (tx) => tx === paid })
    await counted(1)
    stage.advance(2 * DAY_MS)
    await counted(0)
    stage.chain.send(dropped)
    stage.advance(58 * DAY_MS)
    await counted(1)
    stage.advance(2 * DAY_MS)
    await counted(0)
  })

  test('and an event that the operator vouched for may be unknown to the servers', async () => {
    await using stage = await openFinalityStage()
    await stage.publish(deposit('a', stage.chain.txOf(1)))
    assert.match(await stage.decide('vouch', ['a'], 'seen in the explorer'), /"status":"published"/)
    await stage.asked()
    await stage.asked()
    assert.equal(stage.lines().length, 1)
    assert.equal(await stage.metric('daybook_finality_vouched_total'), 1)
    assert.equal(await stage.metric('daybook_finality_contradictions'), 0)
  })

  test('and an event that was imported or published before is a contradiction when no server knows it', async () => {
    await using stage = await openFinalityStage({ rpcs: 2 })
    const tx = stage.chain.txOf(1)
    await stage.publish(deposit('a', tx))
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.until('the draft is published', () => stage.lines().length === 1)
    for (const server of stage.rpcs) server.setFaults({ historyMs: 1 })
    await stage.until(
      'it is counted',
      async () => (await stage.metric('daybook_finality_contradictions')) === 1,
    )
    assert.match(stage.logged(), /event 1: the servers do not know its transaction/)
    const { seq } = JSON.parse(stage.lines()[0] ?? '') as { seq: number }
    await stage.publish({
      ref: 'correction',
      type: 'correction',
      kind: 'treasury',
      kots: '-5',
      details: { corrects: seq },
    })
    await stage.until(
      'a correction answers it',
      async () => (await stage.metric('daybook_finality_contradictions')) === 0,
    )
  })
})

suite('the budget of requests', () => {
  test('is kept at each server', async () => {
    await using stage = await openFinalityStage({ rpcs: 2, requestsPerMinute: 60 })
    await stage.publish(...[1, 2, 3].map((number) => deposit(`never-${number}`, stage.chain.txOf(number))))
    await stage.until('ten are sent', () => stage.rpcs.every((server) => server.requests() === 10))
    const began = performance.now()
    for (let number = 0; number < 20; number += 1) {
      const sent = await stage.publish({ ref: `trade-${number}`, type: 'trade', kind: 'buy', kots: '1' })
      assert.equal(sent.drafts[0]?.status, 'published', 'no publication waits for the budget')
    }
    assert.ok(
      stage.rpcs.every((server) => server.requests() === 10),
      'no more than ten in ten seconds',
    )
    await stage.stop()
    assert.ok(performance.now() - began < 5_000, 'the stop does not wait for the budget')
  })
})
