import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { openCampaign } from '../campaign.ts'
import { type FrontFaults, openEvasionFronts } from './evasion-fronts.ts'
import { openEvasionRun } from './evasion-run.ts'

const CAMPAIGN = openCampaign('allowance-evasion')
/** Requests after which a long run says how far it is. */
const TOLD_REQUESTS = 50_000
const TIMEOUT = { timeout: 120_000 + CAMPAIGN.size * 20 }

test(
  'no caller gets more than its allowance, whatever it tries, and none pays for another',
  TIMEOUT,
  async (t) => {
    await using fronts = await openEvasionFronts()
    using run = openEvasionRun(fronts, CAMPAIGN.random)
    const { counts } = run
    let told = 0
    for (let steps = 1; counts.requests < CAMPAIGN.size; steps += 1) {
      await run.step().catch((cause: unknown) => {
        throw new Error(`step ${steps} of seed ${CAMPAIGN.seed}`, { cause })
      })
      if (counts.requests < told + TOLD_REQUESTS) continue
      told = counts.requests
      t.diagnostic(JSON.stringify(counts))
    }
    const share = (percent: number): number => Math.floor((CAMPAIGN.size * percent) / 100)
    CAMPAIGN.finish(t, counts, {
      requests: CAMPAIGN.size,
      answered: share(20),
      refused: share(2),
      ofPolite: share(0.5),
      connections: share(10),
      streams: share(0.5),
      streamsRefused: Math.floor(CAMPAIGN.size / 10_000),
      abandoned: share(0.5),
      floods: 1,
    })
  },
)

suite('this campaign finds', () => {
  const faults: readonly (readonly [what: string, faults: FrontFaults])[] = [
    ['threads that count apart', { isShared: false }],
    [
      'a service that believes every address of its callers',
      { trustProxy: '127.0.0.0/8,10.0.0.0/8,fd00::/8' },
    ],
  ]
  for (const [what, fault] of faults)
    test(what, async () => {
      await using fronts = await openEvasionFronts(fault)
      using run = openEvasionRun(fronts, randomOf(`teeth: ${what}`))
      const steps = async (): Promise<void> => {
        for (let step = 0; step < 40; step += 1) await run.step()
      }
      await assert.rejects(steps, { name: 'AssertionError', message: /^(?:answered|RateLimit|Retry-After)/ })
    })
})
