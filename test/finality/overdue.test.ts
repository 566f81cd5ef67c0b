import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deposit, FINAL_MS, openFinalityStage, RPC_KEY } from './finality-stage.ts'

suite('a draft that waits for long', () => {
  test('is counted after an hour, and its age is a metric', async () => {
    await using stage = await openFinalityStage()
    await stage.publish(deposit('a', stage.chain.txOf(1)))
    stage.advance(3_600_000)
    await stage.asked()
    assert.equal(await stage.metric('daybook_finality_unsettled'), 0)
    assert.equal(await stage.metric('daybook_finality_oldest_pending_seconds'), 3_600)
    stage.advance(1)
    await stage.until('it is counted', async () => (await stage.metric('daybook_finality_unsettled')) === 1)
    assert.equal(await stage.metric('daybook_finality_held'), 1)
  })

  for (const [kind, words, faults, noAnswer] of [
    ['solana', /^confirmed in slot \d+; its slot is \d+$/, { down: true }, 'unreachable'],
    [
      'evm',
      /^in block \d+; its finalized block is \d+$/,
      { finalizedTag: 'unknown-block' },
      'no-finality (-39001), Unknown block',
    ],
  ] as const) {
    test(`on ${kind} is told once after the set time, with the last words of the servers`, async () => {
      await using stage = await openFinalityStage({
        kind,
        rpcs: 3,
        overdueMs: FINAL_MS,
        prepare: ([, second, third]) => {
          second?.setFaults({ finalBehind: 1_000_000 })
          third?.setFaults(faults)
        },
      })
      const tx = stage.chain.txOf(1)
      stage.chain.send(tx)
      await stage.publish(deposit('a', tx))
      stage.advance(FINAL_MS)
      await stage.asked()
      assert.equal(await stage.metric('daybook_finality_unsettled'), 0)
      assert.doesNotMatch(stage.logged(), /chain-overdue/)
      stage.advance(1)
      await stage.until('it is told', () => stage.logged().includes('chain-overdue'))
      await stage.asked()
      const lines = stage
        .logged()
        .split('\n')
        .filter((line) => line.includes('chain-overdue'))
      assert.equal(lines.length, 1)
      const { drafts: told, reason } = JSON.parse(lines[0] ?? '') as { drafts: number[]; reason: string }
      assert.deepEqual(told, [1])
      assert.match(reason, /^URL 1 \(127[^;]* final in .*; URL 3 \(127/)
      assert.ok(reason.endsWith(`: no answer: ${noAnswer}`), reason)
      const listed = JSON.parse(await stage.held()) as {
        drafts: readonly { lastMessages: readonly { server: string; words: string }[] }[]
      }
      const [first, second, third] = listed.drafts[0]?.lastMessages ?? []
      assert.match(first?.words ?? '', /^final in (?:slot|block) \d+/)
      assert.match(second?.server ?? '', /^URL 2 \(127\.0\.0\.1:\d+\)$/)
      assert.match(second?.words ?? '', words)
      assert.equal(third?.words, `no answer: ${noAnswer}`)
      assert.ok(!`${stage.logged()}${JSON.stringify(listed)}`.includes(RPC_KEY))
    })
  }

  test('is told also when no server says which chain it is of', async () => {
    await using stage = await openFinalityStage({
      overdueMs: 60_000,
      prepare: ([server]) => server?.setFaults({ status: 503 }),
    })
    await stage.publish(deposit('a', stage.chain.txOf(1)))
    stage.advance(60_001)
    await stage.until('it is told', () => /"chain-overdue".*no answer: http-status/.test(stage.logged()))
  })
})
