import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { moved, PAYING, payouts, sent } from '../../test/held/held-drafts.ts'
import { type HeldStage, openHeldStage } from '../../test/held/held-stage.ts'
import { HELD_DRAFTS_MAX } from './held-drafts.ts'

const REQUEST_DRAFTS = 10_000
const WON = moved('won', 'prize/winner', '90')

async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!isTrue()) {
    assert.ok(Date.now() < deadline, 'in time')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const heldIn = (stage: HeldStage): number => stage.counts().held

/** Holds final payouts, more than one commit publishes, until the transaction `a` is final. Returns their number. */
async function holdByOne(stage: HeldStage): Promise<number> {
  await stage.send(...PAYING, sent('a', 'pool/top_up', '50'), moved('won', 'prize/winner', '150'))
  const count = REQUEST_DRAFTS * 2 + 100
  for (let from = 0; from < count; from += REQUEST_DRAFTS) {
    const outcome = await stage.outcome(payouts(from, Math.min(REQUEST_DRAFTS, count - from)))
    assert.ok(outcome.ok)
  }
  await stage.settle(payouts(0, count).map(({ ref }) => ref))
  return count
}

suite('held drafts', () => {
  test(`are ${HELD_DRAFTS_MAX} at most: a request with one more is refused whole, 503 held-full`, async () => {
    using stage = openHeldStage()
    await stage.send(...PAYING, WON)
    for (let from = 0; from < HELD_DRAFTS_MAX; from += REQUEST_DRAFTS) {
      const outcome = await stage.outcome(payouts(from, REQUEST_DRAFTS))
      assert.ok(outcome.ok)
    }
    const more = [moved('more', 'pool/sponsor', '1'), sent('z', 'payout/winner', '1')]
    assert.match(await stage.send(...more), /^null: held-full/)
    assert.equal(await stage.send(moved('gift', 'pool/sponsor', '1')), 'gift published')
    await stage.settle(['pay-7'])
    assert.equal(await stage.send(...more), 'more published, z held')
    stage.reopen()
    assert.equal(heldIn(stage), HELD_DRAFTS_MAX)
  })

  test('that are let go by one draft are published in several commits, in order of acceptance', async () => {
    using stage = openHeldStage()
    const count = await holdByOne(stage)
    assert.equal(heldIn(stage), count + 2)
    await stage.settle(['a'])
    assert.ok(heldIn(stage) > 0, 'no commit has them all')
    await waitUntil(() => heldIn(stage) === 0)
    const txs = stage
      .lines()
      .slice(-count)
      .map((line) => (JSON.parse(line) as { tx: string }).tx)
    assert.deepEqual(
      txs,
      payouts(0, count).map(({ ref }) => `transaction-${ref}`),
    )
  })

  test('that a stop left between two commits of a release are published after the next start', async () => {
    using stage = openHeldStage()
    await holdByOne(stage)
    await stage.settle(['a'])
    await stage.queue().close()
    const left = heldIn(stage)
    assert.ok(left > 0, 'one commit has not all of them')
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(heldIn(stage), left, 'a closed queue makes no commit')
    stage.reopen()
    await waitUntil(() => heldIn(stage) === 0)
  })

  test('that a full disk left between two commits of a release are published by themselves when there is room', async () => {
    using stage = openHeldStage()
    await holdByOne(stage)
    await stage.settle(['a'])
    stage.limitPages(true)
    assert.match(await stage.send(...payouts(3 * REQUEST_DRAFTS, 2_000)), /^null: store-full/)
    stage.limitPages(false)
    await waitUntil(() => heldIn(stage) === 0)
  })
})
