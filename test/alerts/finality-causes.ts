import assert from 'node:assert/strict'
import { addressIn } from '../../sim/chain/pretend-chain.ts'
import { deposit, FINAL_MS, openFinalityStage, PAYING } from '../finality/finality-stage.ts'
import type { Cause } from './rule-test.ts'
import { scrape } from './scrape.ts'

const HOUR_MS = 3_600_000

/** Causes of a service that asks a pretend blockchain. */
export async function finalityCauses(): Promise<readonly Cause[]> {
  const [payer, token, payee] = ['payer', 'token', 'payee'].map((name) => addressIn('solana', name))
  assert.ok(payer !== undefined && token !== undefined && payee !== undefined)
  await using stage = await openFinalityStage({ amounts: { payer, token }, tokens: { [token]: 6 } })
  const read = () => scrape(stage.publishUrl())
  assert.equal((await stage.publish(...PAYING)).status, 200)
  const healthy = await read()

  const tx = stage.chain.txOf(1)
  await stage.publish({ ref: 'payout', type: 'payout', kind: 'winner', contestId: 1, kots: '11', tx })
  stage.chain.send(tx, { transfers: [{ token, payer, payee, units: 10_000_000n }] })
  stage.advance(FINAL_MS)
  await stage.until(
    'the payout is refused',
    async () => (await stage.metric('daybook_finality_refused')) === 1,
  )
  const excess = [await read()]

  stage.rpcs[0]?.setFaults({ down: true })
  await stage.publish(deposit('waiting', stage.chain.txOf(2)))
  stage.advance(HOUR_MS + 1)
  await stage.until('it is counted', async () => (await stage.metric('daybook_finality_unsettled')) > 0)
  await stage.until(
    'the fault is counted',
    async () =>
      (await stage.metric('daybook_finality_rpc_errors_total{rpc="1",fault="unreachable",code="none"}')) > 0,
  )
  const down = [await read()]
  const more = 'a payout of more than its transaction moved'
  return [
    { alert: 'FinalityContradicted', by: more, healthy, ailing: excess },
    { alert: 'HeldRefused', by: more, healthy, ailing: excess },
    { alert: 'FinalityStuck', by: 'servers that are down', healthy, ailing: down },
    { alert: 'FinalityServerFails', by: 'a server that is down', healthy, ailing: down },
  ]
}
