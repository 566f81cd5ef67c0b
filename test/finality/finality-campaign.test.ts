import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import { openCampaign } from './finality-campaign.ts'
import { faultsOf } from './random-rpc-faults.ts'

/** Kills of the service of each chain. The long campaign is `DAYBOOK_CAMPAIGN=60`: 10,080 transactions and 120 kills in all. */
const KILLS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 3)
const SEED = process.env['DAYBOOK_SEED'] ?? 'final by the word of the chain'
/** Transactions between two kills. */
const TXS_PER_KILL = 84
/** Counts that a short campaign may lack. */
const RARE: ReadonlySet<string> = new Set(['unknownAtKills', 'kept', 'twins'])
const KILLS_FOR_RARE = 50

suite(
  `a platform that pays on a chain while the service is killed ${KILLS} times`,
  { concurrency: true },
  () => {
    for (const kind of ['solana', 'evm'] satisfies ChainKind[]) {
      test(
        `publishes each final transaction of ${kind} once, and no other`,
        { timeout: 100_000 + KILLS * 20_000 },
        async (t) => {
          t.diagnostic(`seed: ${SEED}`)
          const folder = mkdtempSync(join(tmpdir(), 'daybook-campaign-'))
          try {
            const goal = { kills: KILLS, txs: KILLS * TXS_PER_KILL }
            await using campaign = await openCampaign({ folder, kind, seed: `${SEED} ${kind}`, ...goal })
            await campaign.killUntilSent()
            await campaign.settle()
            await campaign.compare()
            await campaign.restore()
            const told = campaign.told()
            t.diagnostic(JSON.stringify(told))
            // A campaign proves nothing unless everything that can go wrong went wrong.
            for (const fault of faultsOf(kind))
              assert.ok((told.faults[fault] ?? 0) > 0, `${fault} took effect`)
            for (const [name, count] of Object.entries(told.counts)) {
              assert.ok(count > 0 || (RARE.has(name) && KILLS < KILLS_FOR_RARE), `${name} took place`)
            }
            assert.ok(told.txs >= goal.txs && told.kills >= KILLS, 'enough was sent')
          } finally {
            rmSync(folder, { recursive: true, force: true })
          }
        },
      )
    }
  },
)
