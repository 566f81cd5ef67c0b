import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SOLANA_FAILURE } from '../../../sim/chain/pretend-chain.ts'
import { FINAL_MS, openChainStage } from '../../../test/finality/chain-stage.ts'
import { openChain } from './open-chain.ts'

for (const kind of ['solana', 'evm'] as const) {
  suite(`a chain of ${kind}`, () => {
    test('gives the verdict of each moment of a transaction', async () => {
      await using stage = await openChainStage(kind, [{}, {}, {}])
      const { chain, client, step } = stage
      const [good = '', bad = '', gone = '', moved = '', never = ''] = [1, 2, 3, 4, 5].map(chain.txOf)
      await client.identify(null)
      chain.send(good)
      chain.send(bad, { error: kind === 'solana' ? SOLANA_FAILURE : true })
      const afterMs = kind === 'solana' ? 2_000 : 60_000
      chain.send(gone, { reorg: { afterMs, againAfterMs: null } })
      chain.send(moved, { reorg: { afterMs, againAfterMs: afterMs } })
      const seen = new Set<string>()
      for (let passed = 0; passed < FINAL_MS; passed += kind === 'solana' ? 800 : 24_000) {
        const verdicts = await client.ask([good, bad, gone, moved, never])
        const truths = [good, bad, gone, moved, never].map(chain.truth)
        for (const [at, verdict] of verdicts.entries()) {
          const truth = truths[at]
          seen.add(`${at} ${verdict.is}`)
          assert.equal(verdict.is, truth?.is)
          if ('place' in verdict)
            assert.equal(verdict.place, truth !== undefined && 'place' in truth && truth.place)
        }
        if (seen.has('3 final') && seen.has('0 final')) break
        step(kind === 'solana' ? 800 : 24_000)
      }
      assert.deepEqual([...seen].toSorted(), [
        '0 final',
        '0 unknown',
        '0 waiting',
        '1 failed',
        '1 unknown',
        '1 waiting',
        '2 unknown',
        '2 waiting',
        '3 final',
        '3 unknown',
        '3 waiting',
        '4 unknown',
      ])
      assert.deepEqual(stage.faults, [])
    })

    test('asks for many transactions in batches no larger than each server takes, and remembers', async () => {
      await using stage = await openChainStage(kind, [{}, { batchMax: 30 }, { batchMax: 1 }])
      const { chain, client, servers, spent } = stage
      const txs = Array.from({ length: 300 }, (_, at) => chain.txOf(at))
      for (const tx of txs) chain.send(tx)
      stage.step(FINAL_MS)
      await client.identify(null)
      assert.ok((await client.ask(txs)).every(({ is }) => is === 'final'))
      const before = servers.map((server) => server.requests())
      spent.length = 0
      assert.ok((await client.ask(txs)).every(({ is }) => is === 'final'))
      const requests = servers.map((server, at) => server.requests() - (before[at] ?? 0))
      // EVM asks for the finalized block, 300 receipts, and the few blocks that contain them in each batch.
      const expected = kind === 'solana' ? [2, 19, 300] : [7, 16, 304]
      assert.deepEqual(requests, expected)
      assert.deepEqual(stage.faults, [])
      const calls = spent.filter((text) => text.startsWith('1 ')).map((text) => Number(text.split(' ')[1]))
      assert.deepEqual(calls, kind === 'solana' ? [1, 1] : [1, 100, 1, 100, 1, 100, 1])
    })

    test('is not shown older again by servers that have restarted', async () => {
      await using stage = await openChainStage(kind, [{}, {}, { down: true }, { down: true }])
      const { chain, client, servers, step } = stage
      const tx = chain.txOf(1)
      await client.identify(null)
      chain.send(tx)
      step(FINAL_MS)
      assert.equal((await client.ask([tx]))[0]?.is, 'final')
      const old = { lagMs: FINAL_MS + 1 }
      servers.forEach((server, at) => server.setFaults(at < 2 ? { down: true } : old))
      assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }], 'two that had not answered before')
      servers.forEach((server, at) => server.setFaults(at < 2 ? old : { down: true }))
      assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }], 'two that had')
      servers.forEach((server) => server.setFaults({}))
      assert.deepEqual(await client.ask([chain.txOf(2)]), [{ is: 'unknown' }])
    })

    test('names a server that stays behind, and not one that is seconds late', async () => {
      await using stage = await openChainStage(kind, [{}, {}, {}])
      const { chain, client, servers, step } = stage
      const txs = [chain.txOf(1)]
      await client.identify(null)
      servers[0]?.setFaults({ lagMs: 5_000 })
      for (let poll = 0; poll < 6; poll += 1, step(150_000)) await client.ask(txs)
      assert.deepEqual(stage.faults, [])
      servers[0]?.setFaults({ lagMs: FINAL_MS })
      await client.ask(txs)
      assert.deepEqual(stage.faults, ['1 lagging'])
    })

    test('ends with the reason of the signal', async () => {
      const controller = new AbortController()
      await using stage = await openChainStage(kind, [{}], { signal: controller.signal })
      await stage.client.identify(null)
      stage.servers[0]?.setFaults({ hangs: true })
      const asked = stage.client.ask([stage.chain.txOf(1)])
      const reason = new Error('the service stops')
      controller.abort(reason)
      await assert.rejects(asked, reason)
      await assert.rejects(stage.client.ask([stage.chain.txOf(1)]), reason)
    })

    test('answers nothing for nothing, and once for a transaction that is asked twice', async () => {
      await using stage = await openChainStage(kind, [{}])
      await stage.client.identify(null)
      const requests = stage.servers[0]?.requests()
      assert.deepEqual(await stage.client.ask([]), [])
      assert.equal(stage.servers[0]?.requests(), requests)
      const tx = stage.chain.txOf(1)
      assert.deepEqual(await stage.client.ask([tx, tx]), [{ is: 'unknown' }, { is: 'unknown' }])
    })
  })
}

suite('a URL with a user', () => {
  test('is asked without it, with the header of Basic authentication', async () => {
    const sent: (readonly [string, string | null])[] = []
    const client = openChain({
      chain: 'solana',
      urls: ['https://me:SECRET@rpc.example/'],
      signal: new AbortController().signal,
      timeoutMs: 1_000,
      now: () => 0,
      fetch: async (url, init) => {
        sent.push([url, new Headers(init.headers).get('authorization')])
        throw new TypeError(`cannot reach ${url}`)
      },
    })
    assert.equal(await client.identify(null), null)
    assert.deepEqual(sent, [['https://rpc.example/', 'Basic bWU6U0VDUkVU']])
  })
})
