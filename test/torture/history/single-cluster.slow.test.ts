import { suite, test } from 'node:test'
import { openCampaign } from '../campaign.ts'
import { assertCampaign } from './campaign-test.ts'
import { openSingleCluster } from './single-cluster.ts'

const CAMPAIGN = openCampaign('cluster-single')
const FAULTS = CAMPAIGN.size

suite(`a single node during ${FAULTS} faults`, () => {
  test('loses and repeats nothing, and keeps the order', { timeout: 60_000 + FAULTS * 10_000 }, (t) =>
    assertCampaign(t, CAMPAIGN, openSingleCluster, {
      acksPerRound: 20,
      subscribers: 30,
      publishers: 6,
      paceMs: 30,
      hopMs: 2_000,
      faultMs: [200, 800],
    }),
  )
})
