import { suite, test } from 'node:test'
import { assertCampaign, faultsWanted } from './campaign-test.ts'
import { openSingleCluster } from './single-cluster.ts'

/** Faults of the run. The long campaign is `DAYBOOK_CAMPAIGN=200`. */
const FAULTS = faultsWanted(5)
const SEED = process.env['DAYBOOK_SEED'] ?? 'one node'

suite(`a single node during ${FAULTS} faults`, () => {
  test('loses and repeats nothing, and keeps the order', { timeout: 60_000 + FAULTS * 10_000 }, (t) =>
    assertCampaign(t, openSingleCluster, {
      seed: SEED,
      faults: FAULTS,
      acksPerRound: 20,
      subscribers: 30,
      publishers: 6,
      paceMs: 30,
      hopMs: 2_000,
      faultMs: [200, 800],
    }),
  )
})
