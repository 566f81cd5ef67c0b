import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventWire } from '../../src/protocol/event.ts'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import { randomOf } from '../../sim/random.ts'
import { run } from '../stage/command-stage.ts'
import { readLines } from '../stage/node-process.ts'
import { openKeptDrafts } from './kept-drafts.ts'
import { openOperatorDesk } from './operator-desk.ts'
import { openPaymentChain, type PaymentFate, takesPlace } from './payment-fates.ts'
import { runPlatform } from './platform-contests.ts'
import { openPlatformDesk } from './platform-desk.ts'
import type { PrivateApi } from './private-api.ts'
import { faultsOf, openRandomRpcServers } from './random-rpc-faults.ts'
import { openTurns, startLife } from './campaign-lives.ts'
import { assertContestsPaid, assertLogIsTruth, assertNoneEarly, assertPlaces } from './settled-truth.ts'
import { assertInOrder, placeOf, readStoredDrafts, storedIn } from './stored-drafts.ts'

type CampaignSettings = Readonly<{
  folder: string
  kind: ChainKind
  seed: string
  kills: number
  txs: number
}>

const LIFE_MS_MIN = 150
const LIFE_MS_MAX = 900
/** Share of the lives that end by a stop and not by a kill. */
const STOPS = 0.15
/** Longest wait for a condition. */
const WAIT_MS_MAX = 120_000
/** Pause between two looks at a condition. */
const POLL_MS = 100
/** Time for faults that have not taken effect yet, in one life of the service, and lives with such a time. */
const ROUND_MS = 3_000
const ROUNDS_MAX = 20
/** Payments at the end that never take place, to look at what waits. */
const LAST_LOST = 3

/** Deeds of a campaign: each count of `counts` must be above zero. */
type Told = Readonly<{
  counts: Readonly<Record<string, number>>
  faults: Readonly<Record<string, number>>
  questions: number
  txs: number
  kills: number
  drafts: number
}>

type FinalityCampaign = AsyncDisposable &
  Readonly<{
    /** Kills and restarts the service at random until the platform has sent everything. */
    killUntilSent(): Promise<void>
    /** Lets everything settle, and compares the metrics of what waits with what waits. */
    settle(): Promise<void>
    /** Compares the log, the lists and the public answers with the truth. */
    compare(): Promise<void>
    /** Serves the backup, which settles what it holds as the log did. */
    restore(): Promise<void>
    told(): Told
  }>

export async function openFinalityCampaign({
  folder,
  kind,
  seed,
  kills,
  txs,
}: CampaignSettings): Promise<FinalityCampaign> {
  const random = randomOf(seed)
  const data = join(folder, 'data')
  const copy = join(folder, 'copy.db')
  const payments = openPaymentChain(kind, seed)
  const servers = await openRandomRpcServers(payments.chain, randomOf(`${seed}/faults`))
  const turns = openTurns()
  const desk = openPlatformDesk(randomOf(`${seed}/desk`), turns.take)
  const operator = openOperatorDesk(randomOf(`${seed}/operator`), payments)
  const truth = { accepted: desk.accepted, payments, vouched: operator.vouched }
  const kept = openKeptDrafts(desk)
  const counts = { restarts: 0, early: 0, contests: 0, heldInCopy: 0 }
  let killed = 0
  let life: Awaited<ReturnType<typeof startLife>> | null = null

  async function start(directory = data): Promise<PrivateApi> {
    servers.starting()
    life = await startLife(directory, kind, servers.urls)
    servers.started()
    return life.api
  }
  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    turns.close()
    const ended = await life?.node.end(signal)
    life = null
    if (signal === 'SIGTERM') assert.equal(ended?.code, 0, 'it stops')
    else killed += 1
  }

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const last = performance.now() + WAIT_MS_MAX
    while (!(await holds())) {
      const said = performance.now() > last ? JSON.stringify((await life?.api.held())?.slice(0, 20)) : ''
      assert.ok(
        performance.now() < last,
        `not in time: ${what} ${said}\n${life?.node.stderr().slice(-3_000)}`,
      )
      await sleep(POLL_MS)
    }
  }

  async function backUp(): Promise<void> {
    const known = [...desk.known.keys()]
    const { code, stderr } = await run(['backup', '--data', data, '--to', copy])
    assert.equal(code, 0, stderr)
    const copied = readStoredDrafts(copy)
    assertInOrder(copied.held.keys(), desk.accepted.keys())
    for (const ref of known) assert.ok(placeOf(copied, ref) !== undefined, `${ref} is in the copy`)
    counts.heldInCopy = copied.held.size
  }

  /** Sends payments until each fault has taken effect, over several lives if need be. The operator vouches for one that is late. */
  async function sendUntilAllFired(first: PrivateApi): Promise<PrivateApi> {
    let api = first
    const deposit = (name: string, fate?: PaymentFate) => {
      const { tx } = payments.send(random, fate)
      return { ref: `${name}-${payments.fates.size}`, type: 'treasury', kind: 'deposit', kots: '1', tx }
    }
    const late = deposit('late', 'late')
    await desk.send([late])
    await operator.vouch(api, late)
    const isMissing = (): boolean => faultsOf(kind).some((fault) => (servers.fired()[fault] ?? 0) === 0)
    for (let round = 1; isMissing(); round += 1) {
      assert.ok(round <= ROUNDS_MAX, `each fault takes effect: ${JSON.stringify(servers.fired())}`)
      const last = performance.now() + ROUND_MS
      while (isMissing() && performance.now() < last) {
        await desk.send(Array.from({ length: 3 }, () => deposit('more')))
        await sleep(50)
      }
      if (!isMissing()) return api
      await end('SIGKILL')
      kept.assertStored(storedIn(data))
      api = await start()
      turns.open(api, () => true)
    }
    return api
  }

  const events = async (): Promise<readonly EventWire[]> =>
    (await readLines(life?.node.url ?? '', 0)).map((line) => JSON.parse(line) as EventWire)
  let running: Promise<void> | undefined
  let isSent = false
  let stopping = new AbortController()

  return {
    async killUntilSent(): Promise<void> {
      running = runPlatform({ desk, payments }, seed, txs).then(() => void (isSent = true))
      running.catch(() => undefined)
      let limit = 0
      while (killed < kills) {
        const api = await start()
        await kept.assertListed(api)
        counts.restarts += 1
        limit += txs / kills
        const present = limit
        turns.open(api, () => payments.fates.size < present)
        stopping = new AbortController()
        const operating = operator.run(api, stopping.signal)
        const pause = sleep(random.between(LIFE_MS_MIN, LIFE_MS_MAX))
        await Promise.race([pause, running.then(() => pause)])
        if (counts.heldInCopy === 0 && killed >= kills / 2) await backUp()
        stopping.abort()
        await end(random.chance(STOPS) ? 'SIGTERM' : 'SIGKILL')
        await operating
        kept.assertStored(storedIn(data))
      }
    },

    async settle(): Promise<void> {
      let api = await start()
      await kept.assertListed(api)
      turns.open(api, () => true)
      stopping = new AbortController()
      const operating = operator.run(api, stopping.signal)
      await running
      assert.ok(isSent)
      stopping.abort()
      await operating
      api = await sendUntilAllFired(api)
      servers.calm()
      await until('nothing is held', async () => {
        await operator.decide(api, true)
        return (await api.held()).length === 0
      })
      const from = Date.now()
      const lost = Array.from({ length: LAST_LOST }, (_, index) => {
        const { tx } = payments.send(random, 'never')
        return { ref: `last-${index}`, type: 'treasury', kind: 'deposit', kots: '1', tx }
      })
      await desk.send(lost)
      const to = Date.now()
      await end('SIGKILL')
      kept.assertStored(storedIn(data))
      api = await start()
      await kept.assertListed(api)
      const pending = (): Promise<number> => api.metric('daybook_finality_pending')
      await until('the metric of what waits', async () => (await pending()) === LAST_LOST)
      const asked = Date.now()
      const age = (await api.metric('daybook_finality_oldest_pending_seconds')) * 1_000
      assert.ok(age >= asked - to && age <= Date.now() - from, `the oldest waits for ${age} ms`)
      await operator.decide(api, true)
      assert.deepEqual(await api.held(), [])
    },

    async compare(): Promise<void> {
      assert.ok(life !== null)
      const found = await events()
      counts.early = assertNoneEarly(found, truth)
      counts.contests = assertContestsPaid(found)
      const url = life.node.url
      const { finality } = (await (await fetch(`${url}/api/v1/status`)).json()) as {
        finality: Record<string, number>
      }
      servers.heal()
      const last = Math.max(...payments.fates.keys().map((tx) => payments.chain.finalAt(tx) ?? 0))
      await sleep(Math.max(0, last - Date.now()))
      const chain = [
        '--chain',
        `${kind}=${servers.urls.join(',')}`,
        '--chain-requests',
        '100000',
        '--sample',
        '10000',
      ]
      const verified = await run(['verify', url, ...chain])
      assert.equal(verified.code, 0, verified.stdout + verified.stderr)
      await end('SIGTERM')
      const final = storedIn(data)
      kept.assertStored(final)
      assertLogIsTruth(found, truth)
      assertPlaces(truth, final)
      const states = [...final.settled.values()]
      const expected = { held: 0, failed: count(states, 'failed'), dropped: count(states, 'dropped') }
      assert.deepEqual(
        { held: finality['held'], failed: finality['failed'], dropped: finality['dropped'] },
        expected,
      )
      assert.ok((finality['vouched'] ?? 0) >= counts.early, 'each early event is counted as vouched')
      const checked = await run(['check', '--data', data])
      assert.equal(checked.code, 0, checked.stdout + checked.stderr)
    },

    async restore(): Promise<void> {
      const restored = join(folder, 'restored')
      mkdirSync(restored)
      copyFileSync(copy, join(restored, 'daybook.db'))
      copyFileSync(`${data}.key`, `${restored}.key`)
      const copied = readStoredDrafts(copy)
      const api = await start(restored)
      await kept.assertListed(api, copied)
      await until('the chain has settled the held drafts of the copy', async () => {
        await operator.decide(api, true)
        return (await api.held()).every(({ waitsFor }) => waitsFor !== 'chain')
      })
      assertNoneEarly(await events(), truth)
      await end('SIGTERM')
      const settled = storedIn(restored)
      for (const ref of copied.held.keys()) {
        const fate = payments.fates.get(desk.accepted.get(ref)?.tx ?? '')
        const place = placeOf(settled, ref)
        if (fate === 'failed') assert.equal(place, 'failed', ref)
        else if (fate !== undefined && !takesPlace(fate)) assert.equal(place, 'dropped', ref)
        else assert.ok(place === 'published' || place === 'held' || place === 'dropped', `${ref} is ${place}`)
      }
    },

    told: () => ({
      counts: { ...counts, ...kept.counts, ...desk.counts, ...operator.counts },
      faults: servers.fired(),
      questions: servers.requests(),
      txs: payments.fates.size,
      kills: killed,
      drafts: desk.accepted.size,
    }),

    async [Symbol.asyncDispose]() {
      turns.end()
      stopping.abort()
      if (life !== null) await life.node.end('SIGKILL')
      await servers[Symbol.asyncDispose]()
    },
  }
}

function count(states: readonly string[], state: string): number {
  return states.filter((one) => one === state).length
}
