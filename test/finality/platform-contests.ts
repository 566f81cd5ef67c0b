import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../sim/random.ts'
import type { ModelDraft } from '../story/log-model.ts'
import { type PaymentChain, takesPlace } from './payment-fates.ts'
import type { PlatformDesk } from './platform-desk.ts'

/** A draft without its ref and its transaction. */
type Plan = Omit<ModelDraft, 'ref' | 'tx'>

/** The platform: its desk, and the chain that it pays on. */
type Platform = Readonly<{ desk: PlatformDesk; payments: PaymentChain }>

const OPENS_AT = '2026-01-01T00:00:00.000Z'
const CLOSES_AT = '2027-01-01T00:00:00.000Z'
const WAIT_MS = 20
/** Longest time for which the books may refuse a request. */
const REFUSED_MS_MAX = 240_000
/** Contests that run at the same time. */
const CONTESTS = 8

/** Runs contests until so many transactions are sent. */
export async function runPlatform(platform: Platform, seed: string, txs: number): Promise<void> {
  await platform.desk.send([{ ref: 'first', type: 'treasury', kind: 'deposit', kots: '100000000' }])
  let contests = 0
  const run = async (): Promise<void> => {
    while (platform.payments.fates.size < txs) {
      const id = (contests += 1)
      await runContest(platform, randomOf(`${seed}/contest/${id}`), id)
    }
  }
  const treasury = runTreasury(platform, randomOf(`${seed}/treasury`), Math.ceil(txs / 10))
  await Promise.all([treasury, ...Array.from({ length: CONTESTS }, run)])
}

/**
 * Runs one contest as a platform does: it sends each draft when it happens and never waits for the chain. A payment that
 * does not take place is made again with another transaction: while the books refuse a draft, or at the end.
 */
async function runContest({ desk, payments }: Platform, random: Random, contestId: number): Promise<void> {
  let number = 0
  const again: (readonly Plan[])[] = []
  const drafted = (plan: Plan, tx?: string): ModelDraft => {
    number += 1
    const ref = `contest-${contestId}-${String(number).padStart(3, '0')}`
    return { ...plan, ref, contestId, ...(tx === undefined ? {} : { tx }) }
  }

  /** Sends drafts until they are accepted. */
  async function submit(drafts: readonly ModelDraft[]): Promise<void> {
    const end = performance.now() + REFUSED_MS_MAX
    while ((await desk.send(drafts)) === null) {
      assert.ok(performance.now() < end, `refused for too long: ${JSON.stringify(drafts)}`)
      await sleep(WAIT_MS)
      await payAgain()
    }
  }

  /** Pays plans with one transaction. Those of a lost payment are kept to be paid again. */
  async function pay(plans: readonly Plan[]): Promise<void> {
    const { tx, fate } = payments.send(random)
    await submit(plans.map((plan) => drafted(plan, tx)))
    if (!takesPlace(fate)) again.push(plans)
  }

  async function payAgain(): Promise<void> {
    const plans = again.shift()
    if (plans !== undefined) await pay(plans)
  }

  const send = (plan: Plan): Promise<void> => submit([drafted(plan)])
  const pool = random.between(40, 90)
  const shares = [pool - 20, 12, 8].map(String)
  await send({ type: 'contest', kind: 'scheduled', details: { opensAt: OPENS_AT, closesAt: CLOSES_AT } })
  await pay([{ type: 'pool', kind: 'top_up', kots: String(pool) }])
  await send({ type: 'contest', kind: 'opened' })
  // A player who did not pay has not played.
  for (let kots = random.between(4, 10); kots > 0; kots -= 1)
    await submit([drafted({ type: 'play', kind: 'vote', kots: String(kots) }, payments.send(random).tx)])
  await send({ type: 'contest', kind: 'closed' })
  await send({ type: 'prize', kind: 'winner', kots: shares[0] ?? '' })
  await send({ type: 'prize', kind: 'voter_share', kots: '20' })
  await pay([{ type: 'payout', kind: 'winner', kots: shares[0] ?? '' }])
  await pay(shares.slice(1).map((kots): Plan => ({ type: 'payout', kind: 'voter_share', kots })))
  await send({ type: 'contest', kind: 'paid' })
  while (again.length > 0) await payAgain()
}

/** Moves of the treasury, burns and trades, each with a transaction. */
async function runTreasury({ desk, payments }: Platform, random: Random, moves: number): Promise<void> {
  const kinds = [
    ['treasury', 'deposit'],
    ['treasury', 'withdrawal'],
    ['burn', 'platform_income'],
    ['trade', 'buy'],
  ] as const
  for (let move = 1; move <= moves; move += 1) {
    const [type, kind] = random.pick<readonly [string, string]>(kinds)
    const ref = `treasury-${String(move).padStart(5, '0')}`
    const sent = await desk.send([{ ref, type, kind, kots: String(move), tx: payments.send(random).tx }])
    assert.ok(sent !== null, `${ref} is accepted`)
  }
}
