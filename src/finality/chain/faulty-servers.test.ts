import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import type { ChainKind } from '../../../sim/chain/chain-settings.ts'
import { SOLANA_FAILURE } from '../../../sim/chain/pretend-chain.ts'
import type { Faults } from '../../../sim/chain/rpc-faults.ts'
import { FINAL_MS, openChainStage } from '../../../test/finality/chain-stage.ts'
import type { RpcFault } from '../rpc/rpc-failure.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 16)

type Case = Readonly<{ faults: Faults; fault: RpcFault; only?: ChainKind }>

/** Faults of a server after which it gives no vote about anything. */
const BLIND: readonly Case[] = [
  { faults: { down: true }, fault: 'unreachable' },
  { faults: { hangs: true }, fault: 'timeout' },
  { faults: { slowMs: 5_000 }, fault: 'timeout' },
  { faults: { status: 429 }, fault: 'rate-limited' },
  { faults: { status: 500 }, fault: 'http-status' },
  { faults: { status: 502 }, fault: 'http-status' },
  { faults: { status: 503 }, fault: 'http-status' },
  { faults: { status: 401 }, fault: 'http-status' },
  { faults: { status: 302 }, fault: 'http-status' },
  { faults: { html: true }, fault: 'no-json' },
  { faults: { cut: 'json' }, fault: 'no-json' },
  { faults: { cut: 'connection' }, fault: 'unreachable' },
  { faults: { endless: true }, fault: 'too-long' },
  { faults: { wrongId: 'other' }, fault: 'wrong-id' },
  { faults: { wrongId: 'null' }, fault: 'wrong-id' },
  { faults: { wrongId: 'string' }, fault: 'wrong-id' },
  { faults: { lengthOff: -1 }, fault: 'wrong-length' },
  { faults: { lengthOff: 1 }, fault: 'wrong-length' },
  { faults: { unhealthy: true }, fault: 'lagging' },
  { faults: { noHistory: true }, fault: 'lagging', only: 'solana' },
  { faults: { finalizedTag: 'null' }, fault: 'no-finality', only: 'evm' },
  { faults: { finalizedTag: 'missing' }, fault: 'no-finality', only: 'evm' },
  { faults: { forkFrom: 0 }, fault: 'contradiction', only: 'evm' },
]

/** Faults of one server of three that change no verdict. */
const ONE_FAULTY: readonly Faults[] = [
  { lies: 'final' },
  { lies: 'success' },
  { lies: 'failure' },
  { down: true },
  { status: 429 },
  { blockShift: 1 },
  { forkFrom: 0 },
  { lagMs: FINAL_MS },
  { historyMs: 30_000 },
]

/** Time limit of an answer, where the fault is that none comes, and elsewhere: a slow machine needs more. */
const TIMEOUT_MS = { waited: 1_500, other: 30_000 }

const isFaulty = async (kind: ChainKind, { faults, fault }: Case): Promise<void> => {
  const timeoutMs = fault === 'timeout' ? TIMEOUT_MS.waited : TIMEOUT_MS.other
  await using stage = await openChainStage(kind, [{}], { timeoutMs })
  const { chain, client, servers, step } = stage
  const txs = [1, 2, 3].map(chain.txOf)
  for (const tx of txs) chain.send(tx)
  step(FINAL_MS)
  await client.identify(null)
  // The faulty server knows the outcome of the first two by now.
  assert.ok((await client.ask(txs)).every(({ is }) => is === 'final'))
  servers[0]?.setFaults(faults)
  assert.deepEqual(
    await client.ask(txs),
    txs.map(() => ({ is: 'unsure' })),
  )
  assert.ok(stage.faults.includes(`1 ${fault}`), stage.faults.join())
  assert.deepEqual(Object.keys(servers[0]?.fired() ?? {}), [Object.keys(faults)[0]])
  // It votes again as soon as it is well.
  servers[0]?.setFaults({})
  step(200_000)
  assert.ok((await client.ask(txs)).every(({ is }) => is === 'final'))
}

for (const kind of ['solana', 'evm'] as const) {
  suite(`a server of ${kind} gives no vote`, { concurrency: 4 }, () => {
    for (const row of BLIND.filter(({ only = kind }) => only === kind)) {
      test(`with ${JSON.stringify(row.faults)}`, () => isFaulty(kind, row))
    }
  })

  suite(`three servers of ${kind}`, () => {
    // On Solana no answer shows the hash of a block.
    for (const [at, faults] of ONE_FAULTY.entries()) {
      if (kind === 'solana' && 'forkFrom' in faults) continue
      test(`agree in spite of one with ${JSON.stringify(faults)}`, async () => {
        await using stage = await openChainStage(kind, [{}, {}, {}])
        const { chain, client, servers, step } = stage
        const [sent = '', broken = '', young = '', never = ''] = [1, 2, 3, 4].map(chain.txOf)
        chain.send(sent)
        chain.send(broken, { error: kind === 'solana' ? SOLANA_FAILURE : true })
        step(FINAL_MS)
        chain.send(young)
        step(kind === 'solana' ? 1_000 : 20_000)
        await client.identify(null)
        servers[at % 3]?.setFaults(faults)
        const verdicts = await client.ask([sent, broken, young, never])
        const places = verdicts.map((verdict) => ('place' in verdict ? verdict.place : verdict.is))
        const truths = [sent, broken].map(chain.truth)
        assert.deepEqual(
          [verdicts[0]?.is, verdicts[1]?.is, ...places],
          [
            'final',
            'failed',
            ...truths.map((truth) => 'place' in truth && truth.place),
            'waiting',
            // The liar says that it exists, so that it is not unknown to all.
            faults.lies === 'final' ? 'unsure' : 'unknown',
          ],
        )
        assert.ok(Object.keys(servers[at % 3]?.fired() ?? {}).includes(Object.keys(faults)[0] ?? ''))
        const isWrong = ['success', 'failure'].includes(faults.lies ?? '') || faults.blockShift !== undefined
        assert.equal(stage.faults.includes(`${(at % 3) + 1} outvoted`), isWrong, stage.faults.join())
      })
    }

    test('are unsure when one lies and the others do not know the transaction', async () => {
      await using stage = await openChainStage(kind, [{}, {}, { lies: 'final' }])
      const { chain, client, servers } = stage
      await client.identify(null)
      assert.deepEqual(await client.ask([chain.txOf(1)]), [{ is: 'unsure' }])
      servers[0]?.setFaults({ down: true })
      assert.deepEqual(await client.ask([chain.txOf(1)]), [{ is: 'unsure' }])
    })
  })

  suite(`a server of ${kind} that limits rates`, () => {
    test('is left alone for the time of Retry-After, in seconds or as a date, bounded', async () => {
      await using stage = await openChainStage(kind, [{}])
      const { chain, client, servers, step } = stage
      const [server] = servers
      await client.identify(null)
      const ask = async (): Promise<number> => {
        const before = server?.requests() ?? 0
        await client.ask([chain.txOf(1)])
        return (server?.requests() ?? 0) - before
      }
      const restsFor = async (retryAfter: string | undefined, ms: number): Promise<void> => {
        server?.setFaults({ status: 429, ...(retryAfter === undefined ? {} : { retryAfter }) })
        assert.equal(await ask(), 1)
        step(ms - 1)
        assert.equal(await ask(), 0)
        step(1)
        server?.setFaults({})
        assert.notEqual(await ask(), 0)
      }
      await restsFor('30', 30_000)
      await restsFor(undefined, 5_000)
      await restsFor('soon', 5_000)
      await restsFor('86400', 120_000)
      server?.setFaults({ status: 429, retryAfter: new Date(Date.now() + 60_000).toUTCString() })
      assert.equal(await ask(), 1)
      step(50_000)
      assert.equal(await ask(), 0)
      step(20_000)
      assert.equal(await ask(), 1)
    })
  })
}

suite('three servers of which one lies and all may be faulty', () => {
  const lie = fc.record({
    lies: fc.constantFrom('final', 'success', 'failure'),
    blockShift: fc.constantFrom(0, 1),
  })
  const honest: readonly Faults[] = [
    {},
    { status: 429, retryAfter: '0' },
    { cut: 'json' },
    { wrongId: 'other' },
    { lengthOff: 1 },
    { errorEvery: 2 },
    { lagMs: 30_000 },
    { historyMs: 60_000 },
    { batchMax: 2 },
    { reversed: true },
    { finalBehind: 5 },
    { unhealthy: true },
  ]

  test('never make a false outcome', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('solana' as const, 'evm' as const),
        fc.array(fc.tuple(lie, fc.constantFrom(...honest), fc.constantFrom(...honest)), { maxLength: 6 }),
        fc.nat(2),
        async (kind, polls, liar) => {
          await using stage = await openChainStage(kind, [{}, {}, {}])
          const { chain, client, servers, step } = stage
          const blockMs = kind === 'solana' ? 400 : 12_000
          const txs = [1, 2, 3, 4, 5].map(chain.txOf)
          await client.identify(null)
          for (const [at, tx] of txs.slice(0, 4).entries()) {
            const error = at === 1 ? (kind === 'solana' ? SOLANA_FAILURE : true) : null
            const reorg = { afterMs: 3 * blockMs, againAfterMs: at === 2 ? null : 4 * blockMs }
            chain.send(tx, { error, ...(at < 2 ? {} : { reorg }) })
          }
          for (const [lying, ...others] of polls) {
            servers.forEach((server, at) => server.setFaults(others[(at - liar + 2) % 3] ?? lying))
            step(12 * blockMs)
            for (const [at, verdict] of (await client.ask(txs)).entries()) {
              if (verdict.is !== 'final' && verdict.is !== 'failed') continue
              const truth = chain.truth(txs[at] ?? '')
              assert.deepEqual([verdict.is, verdict.place], [truth.is, 'place' in truth && truth.place])
            }
          }
        },
      ),
      { numRuns: RUNS },
    )
  })
})

suite('a server that answers each request just in time', () => {
  test('delays no verdict of two others for long, and is asked again when it has answered', async () => {
    const slow = { slowMs: 60, batchMax: 1 }
    await using stage = await openChainStage('evm', [{}, {}, slow], { timeoutMs: 300 })
    const { chain, client, servers, step } = stage
    const txs = Array.from({ length: 50 }, (_, index) => chain.txOf(index))
    for (const tx of txs) chain.send(tx)
    step(FINAL_MS)
    await client.identify(null)
    // A process that was stopped meanwhile tries again.
    let soon = 0
    for (let poll = 0; poll < 6 && soon < 3; poll += 1) {
      const began = performance.now()
      const verdicts = await client.ask(txs)
      // The slow server needs 6 s.
      if (verdicts.every(({ is }) => is === 'final') && performance.now() - began < 3_000) soon += 1
    }
    assert.equal(soon, 3)
    const asked = servers[2]?.requests() ?? 0
    assert.ok(asked < 40, `one question at a time: ${asked} requests`)
    // The other two disagree now, so its vote decides.
    servers[2]?.setFaults({})
    servers[1]?.setFaults({ lies: 'failure' })
    const end = performance.now() + 20_000
    while ((await client.ask(txs.slice(0, 1)))[0]?.is !== 'final') assert.ok(performance.now() < end)
  })
})
