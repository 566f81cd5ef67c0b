import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SOLANA_FAILURE } from '../../sim/chain/pretend-chain.ts'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import { deposit, FAST_PACE, FINAL_MS, openFinalityStage, RPC_KEY } from './finality-stage.ts'

for (const kind of ['solana', 'evm'] satisfies ChainKind[]) {
  suite(`a service that asks ${kind}`, () => {
    test('holds a draft with a transaction until the chain says that it is final', async () => {
      await using stage = await openFinalityStage({ kind })
      const tx = stage.chain.txOf(1)
      const accepted = await stage.publish(deposit('a', tx), {
        ref: 'b',
        type: 'trade',
        kind: 'buy',
        kots: '1',
      })
      assert.deepEqual(
        accepted.drafts.map(({ ref, status }) => [ref, status]),
        [
          ['a', 'held'],
          ['b', 'published'],
        ],
      )
      await stage.asked()
      stage.chain.send(tx)
      stage.advance(1)
      await stage.asked()
      assert.equal(stage.lines().length, 1, 'what is not final is not published')
      await stage.until('one pending', async () => (await stage.metric('daybook_finality_pending')) === 1)
      stage.advance(FINAL_MS)
      await stage.until('the draft is published', () => stage.lines().length === 2)
      assert.match(stage.lines()[1] ?? '', new RegExp(`"type":"treasury".*"tx":"${tx}"}$`))
      await stage.until('none pending', async () => (await stage.metric('daybook_finality_pending')) === 0)
      const again = await stage.publish(deposit('a', tx))
      assert.deepEqual(again.drafts, [{ ref: 'a', status: 'duplicate', seq: 2 }])
    })

    test('never publishes a draft whose transaction failed', async () => {
      await using stage = await openFinalityStage({ kind })
      const [failed, final] = [stage.chain.txOf(1), stage.chain.txOf(2)]
      await stage.publish(deposit('a', failed), deposit('b', final))
      stage.chain.send(failed, { error: SOLANA_FAILURE })
      stage.chain.send(final)
      stage.advance(FINAL_MS)
      await stage.until('the other is published', () => stage.lines().length === 1)
      const statusNow = async () => (await stage.publish(deposit('a', failed))).drafts[0]?.status
      await stage.until('the failed one is settled', async () => (await statusNow()) === 'failed')
      assert.equal(stage.lines().length, 1)
    })

    test('releases the drafts of one poll in order of acceptance, each transaction asked once', async () => {
      await using stage = await openFinalityStage({ kind })
      const txs = [3, 1, 2].map(stage.chain.txOf)
      const drafts = txs.flatMap((tx, index) => [
        deposit(`first-${index}`, tx, `1${index}`),
        deposit(`second-${index}`, tx, `2${index}`),
      ])
      for (const tx of txs.toReversed()) stage.chain.send(tx)
      stage.advance(FINAL_MS)
      await stage.publish(...drafts)
      await stage.until('all are published', () => stage.lines().length === drafts.length)
      assert.deepEqual(
        stage.lines().map((line) => /"kots":"(\d+)/.exec(line)?.[1]),
        drafts.map(({ kots }) => kots),
      )
    })

    test('keeps what is held over a restart, and settles it then', async () => {
      await using stage = await openFinalityStage({ kind })
      const tx = stage.chain.txOf(1)
      await stage.publish(deposit('a', tx))
      stage.chain.send(tx)
      await stage.asked()
      await stage.stop()
      stage.advance(FINAL_MS)
      assert.equal(stage.lines().length, 0)
      await stage.start()
      await stage.until('the draft is published', () => stage.lines().length === 1)
    })

    test('believes two of three servers and never the third, which lies', async () => {
      await using stage = await openFinalityStage({ kind, rpcs: 3 })
      const [never, failed, final] = [1, 2, 3].map(stage.chain.txOf)
      assert.ok(never !== undefined && failed !== undefined && final !== undefined)
      stage.rpcs[1]?.setFaults({ lies: 'final' })
      await stage.publish(deposit('a', never), deposit('b', failed), deposit('c', final))
      stage.chain.send(failed, { error: SOLANA_FAILURE })
      stage.chain.send(final)
      await stage.asked()
      assert.equal(stage.lines().length, 0, 'one server is not believed')
      stage.advance(FINAL_MS)
      await stage.until('what is final is published', () => stage.lines().length === 1)
      await stage.asked()
      assert.deepEqual(
        stage.lines().map((line) => /"tx":"([^"]+)/.exec(line)?.[1]),
        [final],
      )
      assert.ok((stage.rpcs[1]?.fired().lies ?? 0) > 0, 'it did lie')
    })
  })
}

suite('a service whose servers are down', () => {
  test('starts, says so, holds what comes, and settles it when they are back', async () => {
    await using stage = await openFinalityStage({
      prepare: ([server]) => server?.setFaults({ down: true }),
    })
    assert.match(stage.logged(), /too few servers of --finality answer/)
    const tx = stage.chain.txOf(1)
    assert.equal((await stage.publish(deposit('a', tx))).drafts[0]?.status, 'held')
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.asked()
    assert.equal(stage.lines().length, 0)
    const errors = 'daybook_finality_rpc_errors_total{rpc="1",fault="unreachable",code="none"}'
    await stage.until('faults are counted', async () => (await stage.metric(errors)) > 0)
    assert.match(stage.logged(), /"rpc":"URL 1 \(127\.0\.0\.1:\d+\)","fault":"unreachable"/)
    stage.rpcs[0]?.setFaults({})
    await stage.until('the draft is published', () => stage.lines().length === 1)
    assert.ok(!stage.logged().includes(RPC_KEY), 'the log has no path of a URL')
    assert.ok(!(await stage.metrics()).includes(RPC_KEY), 'the metrics have no path of a URL')
  })

  test('publishes what needs no chain without delay, and stops at once, while a server hangs', async () => {
    await using stage = await openFinalityStage({ pace: { ...FAST_PACE, timeoutMs: 60_000 } })
    stage.rpcs[0]?.setFaults({ hangs: true })
    await stage.publish(deposit('a', stage.chain.txOf(1)))
    await stage.until('the server is asked', () => (stage.rpcs[0]?.fired().hangs ?? 0) > 0)
    const began = performance.now()
    const other = await stage.publish({ ref: 'b', type: 'trade', kind: 'buy', kots: '1' })
    assert.equal(other.drafts[0]?.status, 'published')
    await stage.stop()
    assert.ok(performance.now() - began < 5_000, 'nothing waited for the server')
  })

  test('bounds an endless answer, and goes on', async () => {
    await using stage = await openFinalityStage({ rpcs: 3 })
    stage.rpcs[2]?.setFaults({ endless: true })
    const tx = stage.chain.txOf(1)
    const never = [2, 3].map((number) => deposit(`never-${number}`, stage.chain.txOf(number)))
    await stage.publish(deposit('a', tx), ...never)
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.until('the draft is published', () => stage.lines().length === 1)
    const errors = 'daybook_finality_rpc_errors_total{rpc="3",fault="too-long",code="none"}'
    await stage.until('the fault is counted', async () => (await stage.metric(errors)) > 0)
  })

  test('holds with one of two servers down, as the documents say', async () => {
    await using stage = await openFinalityStage({ rpcs: 2 })
    stage.rpcs[1]?.setFaults({ status: 503 })
    const tx = stage.chain.txOf(1)
    await stage.publish(deposit('a', tx))
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.asked()
    assert.equal(stage.lines().length, 0)
    stage.rpcs[1]?.setFaults({})
    await stage.until('the draft is published', () => stage.lines().length === 1)
  })
})

suite('a start with three servers', () => {
  for (const [kind, what, faults, fault] of [
    ['evm', 'has just restarted', { finalizedTag: 'unknown-block' }, 'no-finality'],
    ['evm', 'is of another chain', { otherChain: true }, 'wrong-chain'],
    ['solana', 'is of another chain', { otherChain: true }, 'wrong-chain'],
    ['solana', 'is down', { down: true }, 'unreachable'],
  ] as const) {
    test(`of ${kind}, of which one ${what}, goes on with the others and names it`, async () => {
      await using stage = await openFinalityStage({
        kind,
        rpcs: 3,
        prepare: (servers) => servers[1]?.setFaults(faults),
      })
      await stage.until('it is named', () =>
        new RegExp(`"rpc":"URL 2 \\(127[^"]*","fault":"${fault}"`).test(stage.logged()),
      )
      const tx = stage.chain.txOf(1)
      stage.chain.send(tx)
      stage.advance(FINAL_MS)
      await stage.publish(deposit('a', tx))
      await stage.until('the draft is published', () => stage.lines().length === 1)
    })
  }
})

suite('a published payment', () => {
  for (const kind of ['solana', 'evm'] satisfies ChainKind[]) {
    test(`on ${kind} is not contradicted by servers that restart with an old state of the chain`, async () => {
      await using stage = await openFinalityStage({ kind, rpcs: 3 })
      const tx = stage.chain.txOf(1)
      stage.chain.send(tx)
      stage.advance(FINAL_MS)
      await stage.publish(deposit('a', tx))
      await stage.until('the draft is published', () => stage.lines().length === 1)
      stage.advance(FINAL_MS)
      await stage.asked()
      const [first, second, third] = stage.rpcs
      third?.setFaults({ status: 503 })
      for (const server of [first, second]) server?.setFaults({ lagMs: 3 * FINAL_MS })
      for (let round = 0; round < 3; round += 1) await stage.asked()
      assert.equal(await stage.metric('daybook_finality_contradictions'), 0)
      // Servers that are up to date and do not know it contradict it, so it was asked about.
      for (const server of [first, second]) server?.setFaults({ historyMs: 1.5 * FINAL_MS })
      const contradictions = async () => stage.metric('daybook_finality_contradictions')
      await stage.until('it is contradicted', async () => (await contradictions()) === 1)
    })
  }
})

suite('the start is refused', () => {
  test('for a server of another chain than the other', async () => {
    const opening = openFinalityStage({
      rpcs: 2,
      prepare: (servers) => servers[1]?.setFaults({ otherChain: true }),
    })
    await assert.rejects(opening, (error: Error & { exitCode?: number }) => {
      assert.match(error.message, /^--finality: URL 2 \(127\.0\.0\.1:\d+\) is of chain \S+, and not of /)
      assert.ok(!error.message.includes(RPC_KEY))
      assert.equal(error.exitCode, 2)
      return true
    })
  })

  test('for an EVM chain without a finalized block', async () => {
    const opening = openFinalityStage({
      kind: 'evm',
      prepare: ([server]) => server?.setFaults({ finalizedTag: 'invalid' }),
    })
    await assert.rejects(opening, /URL 1 \(127\.0\.0\.1:\d+\) has no finalized block/)
  })

  test('for another chain than the one that settled this log, and not before it settled anything', async () => {
    await using stage = await openFinalityStage()
    const [server] = stage.rpcs
    await stage.stop()
    server?.setFaults({ otherChain: true })
    await stage.start()
    await stage.stop()
    server?.setFaults({})
    await stage.start()
    const tx = stage.chain.txOf(1)
    await stage.publish(deposit('a', tx))
    stage.chain.send(tx)
    stage.advance(FINAL_MS)
    await stage.until('the draft is published', () => stage.lines().length === 1)
    await stage.stop()
    server?.setFaults({ otherChain: true })
    await assert.rejects(stage.start(), /--finality: URL 1 .* drafts of this log were settled by /)
    server?.setFaults({})
    await stage.start()
  })
})
