import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { FINAL_MS, openChainStage } from '../../../test/finality/chain-stage.ts'
import { ChainError } from '../rpc/chain-url.ts'

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => assert.fail('it is refused'),
    (error: unknown) => {
      assert.ok(error instanceof ChainError)
      assert.doesNotMatch(error.message, /SECRET/)
      return error.message
    },
  )

for (const kind of ['solana', 'evm'] as const) {
  suite(`the chain of servers of ${kind}`, () => {
    test('is identified by its genesis or number, and another one is refused by URL number and host', async () => {
      await using stage = await openChainStage(kind, [{}, {}])
      const { chain, client, servers } = stage
      const id = kind === 'solana' ? chain.genesis : String(chain.chainId)
      servers[1]?.setFaults({ otherChain: true })
      const other = await refusal(client.identify(null))
      assert.match(
        other,
        /^URL 2 \(127\.0\.0\.1:\d+\) is of chain \w+, and not of \w+: give URLs of one chain$/,
      )
      servers[1]?.setFaults({})
      assert.match(
        await refusal(client.identify('other')),
        /^URL 1 .*, and drafts of this log were settled by other: give URLs of that chain$/,
      )
      assert.deepEqual(await client.ask([chain.txOf(1)]), [{ is: 'unsure' }])
      assert.equal(await client.identify(null), id)
      assert.equal(await client.identify(id), id)
    })

    test('starts with two of three servers, and tells of the third, which is of another chain', async () => {
      await using stage = await openChainStage(kind, [{}, { otherChain: true }, {}])
      const { chain, client, servers, step } = stage
      const id = kind === 'solana' ? chain.genesis : String(chain.chainId)
      assert.equal(await client.identify(null), id)
      assert.deepEqual(stage.faults, ['2 wrong-chain'])
      chain.send(chain.txOf(1))
      step(FINAL_MS)
      assert.equal((await client.ask([chain.txOf(1)]))[0]?.is, 'final')
      servers[1]?.setFaults({})
      servers[2]?.setFaults({ down: true })
      step(60_000)
      assert.equal((await client.ask([chain.txOf(1)]))[0]?.is, 'final', 'it votes when it is of the chain')
    })

    test('is of no chain by the word of one server of three', async () => {
      await using stage = await openChainStage(kind, [{ down: true }, { down: true }, { otherChain: true }])
      const { chain, client, servers } = stage
      assert.equal(await client.identify(null), null)
      for (const server of servers.slice(0, 2)) server.setFaults({})
      assert.equal(await client.identify(null), kind === 'solana' ? chain.genesis : String(chain.chainId))
    })

    test('is the one that settled drafts before, also when another one was known until then', async () => {
      await using stage = await openChainStage(kind, [{ otherChain: true }, { otherChain: true }, {}])
      const { chain, client, servers } = stage
      const id = kind === 'solana' ? chain.genesis : String(chain.chainId)
      assert.notEqual(await client.identify(null), id)
      for (const server of servers) server.setFaults({})
      assert.equal(await client.identify(id), id)
    })

    test('lets a server vote that was down at the start, but not one of another chain', async () => {
      await using stage = await openChainStage(kind, [{ down: true }, { down: true }, { down: true }])
      const { chain, client, servers, step } = stage
      const [tx] = [chain.txOf(1)]
      chain.send(tx)
      step(FINAL_MS)
      assert.equal(await client.identify(null), null)
      assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }])
      for (const server of servers.slice(0, 2)) server.setFaults({})
      assert.notEqual(await client.identify(null), null)
      assert.equal((await client.ask([tx]))[0]?.is, 'final')
      servers[1]?.setFaults({ down: true })
      assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }], 'two must agree')
      servers[2]?.setFaults({ otherChain: true })
      assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }])
      assert.ok(stage.faults.includes('3 wrong-chain'))
      const requests = servers[2]?.requests()
      await client.ask([tx])
      assert.equal(servers[2]?.requests(), requests, 'a server of another chain is left alone for a minute')
      servers[2]?.setFaults({})
      step(60_000)
      assert.equal((await client.ask([tx]))[0]?.is, 'final')
    })

    for (const gap of ['an outage', 'a bad gateway', 'a pause'] as const) {
      test(`is asked for again after ${gap}, because another server may answer then`, async () => {
        await using stage = await openChainStage(kind, [{}, { down: true }, {}])
        const { chain, client, servers, step } = stage
        const tx = chain.txOf(1)
        chain.send(tx)
        step(FINAL_MS)
        await client.identify(null)
        assert.equal((await client.ask([tx]))[0]?.is, 'final')
        if (gap === 'a pause') step(5_000)
        else {
          servers[2]?.setFaults(gap === 'an outage' ? { down: true } : { status: 502 })
          assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }])
        }
        servers[2]?.setFaults({ otherChain: true })
        assert.deepEqual(await client.ask([tx]), [{ is: 'unsure' }])
        assert.ok(stage.faults.includes('3 wrong-chain'), stage.faults.join())
        assert.equal(
          await client.moved(tx, { payer: chain.addressOf('a'), token: chain.addressOf('b') }),
          null,
        )
        servers[2]?.setFaults({})
        step(60_000)
        assert.equal((await client.ask([tx]))[0]?.is, 'final')
      })
    }

    test('is asked for once by questions of the same time', async () => {
      await using stage = await openChainStage(kind, [{}])
      const { chain, client, servers, step } = stage
      await client.identify(null)
      step(FINAL_MS)
      const account = { payer: chain.addressOf('a'), token: chain.addressOf('b') }
      await Promise.all(Array.from({ length: 20 }, (_, number) => client.moved(chain.txOf(number), account)))
      const calls = servers[0]?.calls() ?? {}
      assert.equal(calls[kind === 'solana' ? 'getGenesisHash' : 'eth_chainId'], 2)
    })
  })
}

suite('a chain of evm', () => {
  for (const finalizedTag of ['invalid', 'missing', 'unknown-block', 'null'] as const) {
    suite(`without a finalized block (${finalizedTag})`, () => {
      test('on one server of three starts, and names that server until it has one', async () => {
        await using stage = await openChainStage('evm', [{}, { finalizedTag }, {}])
        const { chain, client, servers, step } = stage
        const tx = chain.txOf(1)
        assert.equal(await client.identify(null), String(chain.chainId))
        assert.deepEqual(stage.faults, ['2 no-finality'])
        chain.send(tx)
        step(FINAL_MS)
        assert.equal((await client.ask([tx]))[0]?.is, 'final')
        assert.deepEqual(stage.faults, ['2 no-finality', '2 no-finality'])
        servers[1]?.setFaults({})
        servers[0]?.setFaults({ finalizedTag })
        assert.equal((await client.ask([tx]))[0]?.is, 'final', 'the next one restarts')
      })

      test('on enough servers is refused', async () => {
        await using stage = await openChainStage('evm', [{ down: true }, { finalizedTag }, { finalizedTag }])
        assert.match(
          await refusal(stage.client.identify(null)),
          /^URL 2 \(127\.0\.0\.1:\d+\) has no finalized block: give a server/,
        )
      })

      test('on all servers is waited for when it has settled drafts before', async () => {
        await using stage = await openChainStage('evm', [{ finalizedTag }])
        const { chain, client, servers } = stage
        const id = String(chain.chainId)
        assert.equal(await client.identify(id), null)
        servers[0]?.setFaults({})
        assert.equal(await client.identify(id), id)
      })
    })
  }

  test('finds a transaction in capital hex digits', async () => {
    await using stage = await openChainStage('evm', [{}])
    stage.chain.send(stage.chain.txOf(1))
    stage.step(FINAL_MS)
    await stage.client.identify(null)
    const [verdict] = await stage.client.ask([`0x${stage.chain.txOf(1).slice(2).toUpperCase()}`])
    assert.equal(verdict?.is, 'final')
  })
})
