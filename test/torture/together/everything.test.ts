import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { assertCampaign } from '../../cluster/campaign-test.ts'
import { openEngineCluster } from '../../cluster/engine-cluster.ts'
import { openNatsEngine } from '../../cluster/nats-cluster.ts'
import { openPostgresEngine } from '../../cluster/postgres-cluster.ts'
import { NATS_NEEDED, NATS_SERVER } from '../../engine/nats-program.ts'
import { hasPostgres } from '../../outbox/postgres-server.ts'
import { skipUnless } from '../../stage/test-needs.ts'
import { HAS_LITEWITNESS, LITEWITNESS_NEEDED } from '../../witness/litewitness.ts'
import { openCampaign, shareOf } from '../campaign.ts'
import { WHOLE_COMPANY } from './whole-company.ts'

const CAMPAIGN = openCampaign('everything')
const FAULTS = CAMPAIGN.size
/** Engine of the log: `DAYBOOK_ENGINE`, or that of the part, so that the parts of a long run have both by turns. */
const ENGINE = process.env['DAYBOOK_ENGINE'] ?? (CAMPAIGN.part.number % 2 === 1 ? 'nats' : 'postgres')
/** Parts of a run that have the same engine. Each first fires the faults that the others do not. */
const TURNS = Math.ceil(CAMPAIGN.part.count / 2)
const TURN = Math.ceil(CAMPAIGN.part.number / 2) - 1
const ENGINES = new Map([
  ['nats', openNatsEngine],
  ['postgres', openPostgresEngine],
])
const openEngine = ENGINES.get(ENGINE) ?? assert.fail('DAYBOOK_ENGINE is nats or postgres')
const isThere = NATS_SERVER !== undefined && hasPostgres && HAS_LITEWITNESS
const needed = `${NATS_NEEDED}, PostgreSQL, ${LITEWITNESS_NEEDED}`

// `npm test` fires no fault here: each part has a campaign of its own there.
if (FAULTS > 0)
  suite(
    `writers on ${ENGINE}, mirrors, a chain, an outbox, witnesses and backups during ${FAULTS} faults`,
    { skip: skipUnless(isThere, needed) },
    () => {
      test('keep every promise together', { timeout: 300_000 + FAULTS * 60_000 }, (t) =>
        assertCampaign(
          t,
          CAMPAIGN,
          (folder, seed) => openEngineCluster(folder, seed, openEngine, WHOLE_COMPANY),
          {
            isPreferred: (name) => shareOf(name, TURNS) === TURN,
            first: ['kill a', 'kill witness.example/one', 'kill drainer and database of the outbox'],
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
