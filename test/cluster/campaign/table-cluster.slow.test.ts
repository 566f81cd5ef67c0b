import { suite, test } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless, skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../../torture/campaign.ts'
import { assertCampaign } from '../../torture/history/campaign-test.ts'
import { CAMPAIGNS } from './campaign-rows.ts'
import { openTableCluster } from './table-cluster.ts'

const CAMPAIGN = openCampaign('cluster', CAMPAIGNS)
const FAULTS = CAMPAIGN.size
/** Faults of each run, the most telling first. */
const FIRST = [
  'stop the leader until another leads',
  'cancel a wait, then promote the standby',
  'promote the standby while the old primary stays',
  'stall what the database answers to the leader',
  'empty synchronous_standby_names, then promote the standby',
  'join c with an empty directory',
]
const isLong = FAULTS > FIRST.length

suite(
  `three nodes on PostgreSQL and two mirrors during ${FAULTS} faults`,
  { skip: skipUnless(hasPostgres, 'PostgreSQL') || skipWithout('cc') },
  () => {
    test(
      'lose and repeat nothing, keep the order, and have the same bytes',
      { timeout: 180_000 + FAULTS * 45_000 },
      (t) =>
        assertCampaign(t, CAMPAIGN, openTableCluster, {
          first: FIRST,
          acksPerRound: 20,
          subscribers: isLong ? 200 : 30,
          publishers: 6,
          paceMs: 150,
          hopMs: 5_000,
          faultMs: [500, 3_000],
        }),
    )
  },
)
