import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../sim/random.ts'
import { type PaymentChain, type PaymentFate, takesPlace } from './payment-fates.ts'
import type { ModelDraft } from '../story/log-model.ts'
import type { PlatformDesk } from './platform-desk.ts'

/** A draft without its ref and its transaction. */
type Plan = Omit<ModelDraft, 'ref' | 'tx'>

/** The platform: its desk, the chain that it pays on, and its own list of payments that it made twice. */
type Platform = Readonly<{
  desk: PlatformDesk
  payments: PaymentChain
  /** Pairs of payouts of one prize. The books admit one of them. */
  twins: (readonly [ref: string, twin: string])[]
}>

const OPENS_AT = '2026-01-01T00:00:00.000Z'
const CLOSES_AT = '2027-01-01T00:00:00.000Z'
const WAIT_MS = 20
/** Longest time for which the books may refuse a request, or a prize without a transaction may be held. */
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
 * does not take place is made again with another transaction, at once or at the end of the contest.
 */
async function runContest(platform: Platform, random: Random, contestId: number): Promise<void> {
  const contest = openContest(platform, random, contestId)
  const { send, pay, payLater } = contest
  const funds = Array.from({ length: random.between(1, 3) }, () => random.between(40, 90))
  const fundings = funds.map((kots): Plan => {
    const kind = random.chance(0.2) ? 'sponsor' : 'top_up'
    return { type: 'pool', kind, kots: String(kots) }
  })
  await send({ type: 'contest', kind: 'scheduled', details: { opensAt: OPENS_AT, closesAt: CLOSES_AT } })
  for (const funding of fundings) {
    if (random.chance(0.1)) await send(funding)
    else await pay([funding])
  }
  await send({ type: 'contest', kind: 'opened' })
  await contest.plays(random.between(4, 10))
  const pool = funds.reduce((sum, kots) => sum + kots, 0)
  if (random.chance(0.15)) {
    await send({ type: 'contest', kind: 'cancelled' })
    for (const kots of splitOf(random, pool, 3))
      await pay([{ type: 'payout', kind: 'refund', kots: String(kots) }])
    await payLater()
  } else await award(contest, random, pool)
  await send({ type: 'contest', kind: 'paid' })
  await contest.payRest()
}

/** Closes a contest and pays its prizes, of which one is corrected at times, one lapses, and the rest goes back. */
async function award(contest: Contest, random: Random, pool: number): Promise<void> {
  const { send, pay, payLater } = contest
  const [winner = 0, voters = 0, bonus = 0, left = 0] = splitOf(random, pool, 4)
  const lapsed = random.between(1, voters - 3)
  await send({ type: 'contest', kind: 'closed' })
  const prize = (kind: string, kots: number): Plan => ({ type: 'prize', kind, kots: String(kots) })
  if (random.chance(0.15)) await contest.correct(prize('winner', winner - 1), prize('winner', winner))
  else await send(prize('winner', winner))
  await send(prize('voter_share', voters), prize('bonus', bonus))
  await pay([{ type: 'payout', kind: 'winner', kots: String(winner) }])
  const shares = splitOf(random, voters - lapsed, random.between(1, 3))
  await pay(shares.map((kots) => ({ type: 'payout', kind: 'voter_share', kots: String(kots) })))
  await contest.payTwice({ type: 'payout', kind: 'bonus', kots: String(bonus) })
  await payLater()
  await send({ type: 'expiry', kind: 'voter_share', kots: String(lapsed) })
  await send({ type: 'pool', kind: 'returned', kots: String(left) })
}

type Contest = ReturnType<typeof openContest>

function openContest({ desk, payments, twins }: Platform, random: Random, contestId: number) {
  let number = 0
  const again: (readonly Plan[])[] = []
  const drafted = (plan: Plan, tx?: string): ModelDraft => {
    number += 1
    const ref = `contest-${contestId}-${String(number).padStart(3, '0')}`
    return { ...plan, ref, contestId, ...(tx === undefined ? {} : { tx }) }
  }
  /** Sends drafts until they are accepted. While the books refuse them, lost payments are made again. */
  async function submit(drafts: readonly ModelDraft[]): Promise<readonly (number | undefined)[]> {
    const end = performance.now() + REFUSED_MS_MAX
    for (;;) {
      const seqs = await desk.send(drafts)
      if (seqs !== null) return seqs
      assert.ok(performance.now() < end, `refused for too long: ${JSON.stringify(drafts)}`)
      await sleep(WAIT_MS)
      await payAgain(1)
    }
  }
  /** Pays plans with one transaction. Those of a lost payment are kept to be paid again. */
  async function pay(plans: readonly Plan[], given?: PaymentFate): Promise<readonly ModelDraft[]> {
    const { tx, fate } = payments.send(random, given)
    const drafts = plans.map((plan) => drafted(plan, tx))
    await submit(drafts)
    if (!takesPlace(fate)) again.push(plans)
    return drafts
  }
  /** Makes so many lost payments again, one by one: each may wait for another of them. */
  async function payAgain(count: number): Promise<void> {
    for (let paid = 0; paid < count; paid += 1) {
      const plans = again.shift()
      if (plans !== undefined) await pay(plans)
    }
  }
  return {
    send: (...plans: readonly Plan[]) => submit(plans.map((plan) => drafted(plan))),
    pay,
    /** Makes half of the lost payments again. */
    payLater: () => payAgain(again.length >> 1),
    async payRest() {
      while (again.length > 0) await payAgain(again.length)
    },
    /** Plays, of which some are lost: a player who did not pay has not played. */
    async plays(count: number) {
      for (let sent = 0; sent < count;) {
        const size = Math.min(random.between(1, 3), count - sent)
        const drafts = Array.from({ length: size }, (_, index) => {
          const kind = random.chance(0.5) ? 'entry' : 'vote'
          return drafted({ type: 'play', kind, kots: String(sent + index + 1) }, payments.send(random).tx)
        })
        await submit(drafts)
        sent += size
      }
    },
    /** Publishes a wrong prize, and corrects it when it is published. */
    async correct(wrong: Plan, right: Plan) {
      const drafts = [drafted(wrong)]
      const end = performance.now() + REFUSED_MS_MAX
      let [seq] = await submit(drafts)
      while (seq === undefined) {
        assert.ok(performance.now() < end, `held for too long: ${JSON.stringify(drafts)}`)
        await sleep(WAIT_MS)
        await payAgain(again.length)
        ;[seq] = await submit(drafts)
      }
      const { type, kind, kots = '' } = wrong
      await submit([
        drafted({ type: 'correction', kind: type, kots: `-${kots}`, details: { corrects: seq } }),
        drafted({ type, kind, kots: right.kots ?? '', details: { restates: seq } }),
      ])
    },
    /** Pays a prize, and at times by mistake a second time. */
    async payTwice(plan: Plan) {
      if (!random.chance(0.5)) return void (await pay([plan]))
      const [first] = await pay([plan], 'final')
      const twin = drafted(plan, payments.send(random, 'final').tx)
      if (first !== undefined && (await desk.send([twin])) !== null) twins.push([first.ref, twin.ref])
    },
  }
}

/** Splits a whole amount into different parts of at least 5. */
function splitOf(random: Random, whole: number, parts: number): readonly number[] {
  if (parts === 1 || whole < parts * 8) return [whole]
  const part = random.between(5, Math.floor(whole / parts))
  return [part, ...splitOf(random, whole - part, parts - 1)]
}

/** Moves of the treasury, burns and trades, each with a transaction, and prices without one. */
async function runTreasury(
  { desk, payments }: Omit<Platform, 'twins'>,
  random: Random,
  moves: number,
): Promise<void> {
  const kinds = [
    ['treasury', 'deposit'],
    ['treasury', 'withdrawal'],
    ['burn', 'platform_income'],
    ['trade', 'buy'],
  ] as const
  for (let move = 1; move <= moves; move += 1) {
    const [type, kind] = random.pick<readonly [string, string]>(kinds)
    const draft = { ref: `treasury-${String(move).padStart(5, '0')}`, type, kind, kots: String(move) }
    const details = { price: `0.${String(move).padStart(12, '0')}` }
    const price = { ref: `price-${move}`, type: 'price', kind: 'usd', details }
    const drafts = [{ ...draft, tx: payments.send(random).tx }, ...(random.chance(0.3) ? [price] : [])]
    assert.ok((await desk.send(drafts)) !== null, `${draft.ref} is accepted`)
  }
}
