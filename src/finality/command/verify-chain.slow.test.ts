import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import { chain, EVM, honest, lyingWith, verifyServed } from '../../../test/finality/verify-chain-stage.ts'

// Asks again after seconds, as a user waits for them.
suite('daybook verify --chain without a sure answer', { concurrency: true }, () => {
  test('exits with 1 when a transaction is unknown, and names its seq', async () => {
    const rpc = await openRpcServer({ chain })
    const { code, stdout } = await verifyServed(lyingWith(chain.txOf(9)), EVM, '--chain', `evm=${rpc.url}`)
    await rpc.close()
    assert.match(stdout, /^WRONG chain +seq 11: no server that was asked knows its transaction$/m)
    assert.doesNotMatch(stdout, /would miss/, 'the chance to find none says nothing once one is found')
    assert.equal(code, 1)
  })

  test('exits with 1 when no server answers, because nothing was checked', async () => {
    const { code, stdout } = await verifyServed(honest, EVM, '--chain', 'evm=http://127.0.0.1:9/')
    assert.match(stdout, /^- {5}chain +not checked: too few RPC servers answered$/m)
    assert.match(stdout, /^NOT VERIFIED;/m)
    assert.equal(code, 1)
  })
})
