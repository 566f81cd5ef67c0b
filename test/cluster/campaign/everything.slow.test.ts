import { suite, test } from 'node:test'
import { hasPostgres } from '../../database/postgres-server.ts'
import { skipUnless, skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../../torture/campaign.ts'
import { assertCampaign } from '../../torture/history/campaign-test.ts'
import { HAS_LITEWITNESS, LITEWITNESS_NEEDED } from '../../witness/litewitness.ts'
import { CAMPAIGNS } from './campaign-rows.ts'
import { openTableCluster } from './table-cluster.ts'
import { WHOLE_COMPANY } from './whole-company.ts'

const CAMPAIGN = openCampaign('everything', CAMPAIGNS)
const FAULTS = CAMPAIGN.size

// `npm run test:all` fires no fault here: each of them has a campaign of its own there.
if (FAULTS > 0)
  suite(
    `nodes on PostgreSQL, mirrors, a chain, an outbox, witnesses and backups during ${FAULTS} faults`,
    {
      skip:
        skipUnless(hasPostgres && HAS_LITEWITNESS, `PostgreSQL, ${LITEWITNESS_NEEDED}`) || skipWithout('cc'),
    },
    () => {
      test('keep every promise together', { timeout: 300_000 + FAULTS * 60_000 }, (t) =>
        assertCampaign(
          t,
          CAMPAIGN,
          (folder, seed) => openTableCluster(folder, seed, WHOLE_COMPANY),
          {
            first: ['kill the leader + kill witness.example/one + kill drainer and database of the outbox'],
            acksPerRound: 15,
            subscribers: FAULTS > 10 ? 200 : 30,
            filters: true,
            publishers: 5,
            paceMs: 250,
            hopMs: 6_000,
            faultMs: [500, 4_000],
          },
          {
            outboxRows: FAULTS * 5,
            witnessed: FAULTS * 2,
            // A slow machine has fewer of them between two faults.
            backups: Math.ceil(FAULTS / 2),
            restored: 1,
            chainFaults: FAULTS,
            details: FAULTS * 10,
          },
        ),
      )
    },
  )
