import { suite, test } from 'node:test'
import { NATS_NEEDED, NATS_SERVER } from '../engine/nats-program.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { openCampaign } from '../torture/campaign.ts'
import { assertCampaign } from './campaign-test.ts'
import { openEngineCluster } from './engine-cluster.ts'
import { openNatsEngine } from './nats-cluster.ts'

const CAMPAIGN = openCampaign('cluster-nats')
const FAULTS = CAMPAIGN.size
/** Streams at a time. A long campaign has 500. */
const SUBSCRIBERS = FAULTS > 10 ? 500 : 30

suite(
  `three writers on NATS and two mirrors during ${FAULTS} faults`,
  { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED) },
  () => {
    test(
      'lose and repeat nothing, keep the order, and have the same bytes',
      { timeout: 120_000 + FAULTS * 30_000 },
      (t) =>
        assertCampaign(t, CAMPAIGN, (folder, seed) => openEngineCluster(folder, seed, openNatsEngine), {
          first: ['kill the leader of the stream', 'kill a', 'stall link of b'],
          acksPerRound: FAULTS > 10 ? 20 : 40,
          subscribers: SUBSCRIBERS,
          publishers: 6,
          paceMs: 150,
          hopMs: 5_000,
          faultMs: [500, 3_000],
        }),
    )
  },
)
