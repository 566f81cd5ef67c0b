import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import { openCampaign } from '../torture/campaign.ts'
import { openFinalityCampaign } from './finality-campaign.ts'
import { faultsOf } from './random-rpc-faults.ts'

const CAMPAIGN = openCampaign('finality')
/** Kills of the service of each chain. */
const KILLS = CAMPAIGN.size
/** Transactions between two kills. */
const TXS_PER_KILL = 84
/** Counts that a short campaign may lack. */
const RARE: ReadonlySet<string> = new Set(['unknownAtKills', 'kept'])
const KILLS_FOR_RARE = 50
const CHAINS = ['solana', 'evm'] satisfies ChainKind[]
const TIMEOUT_MS = 300_000 + KILLS * 20_000

/** Runs the campaign of one chain. Returns what it counted. */
async function runChain(t: TestContext, kind: ChainKind): Promise<Readonly<Record<string, number>>> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-campaign-'))
  try {
    const goal = { kills: KILLS, txs: KILLS * TXS_PER_KILL }
    const seed = `${CAMPAIGN.seed} ${kind}`
    await using campaign = await openFinalityCampaign({ folder, kind, seed, ...goal })
    await campaign.killUntilSent()
    await campaign.settle()
    await campaign.compare()
    await campaign.restore()
    const { counts, faults, ...told } = campaign.told()
    t.diagnostic(JSON.stringify(faults))
    // A campaign proves nothing unless everything that can go wrong went wrong.
    for (const fault of faultsOf(kind)) assert.ok((faults[fault] ?? 0) > 0, `${fault} took effect`)
    for (const [name, count] of Object.entries(counts))
      assert.ok(count > 0 || (RARE.has(name) && KILLS < KILLS_FOR_RARE), `${name} took place`)
    const fired = Object.values(faults).reduce((sum, count) => sum + count, 0)
    return { ...told, faults: fired, ...counts }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test(
  `a platform that pays on a chain while the service is killed ${KILLS} times`,
  { concurrency: true, timeout: TIMEOUT_MS },
  async (t) => {
    const figures: Record<string, number> = {}
    await Promise.all(
      CHAINS.map((kind) =>
        t.test(`publishes each final transaction of ${kind} once, and no other`, async (chain) => {
          for (const [name, count] of Object.entries(await runChain(chain, kind)))
            figures[name] = (figures[name] ?? 0) + count
        }),
      ),
    )
    const chains = CHAINS.length
    CAMPAIGN.finish(t, figures, {
      kills: chains * KILLS,
      txs: chains * KILLS * TXS_PER_KILL,
      faults: chains * KILLS * 10,
    })
  },
)
