import type { CampaignRow } from '../../torture/campaigns.ts'

/** Campaigns of the log on a table. `npm run torture` runs them with those of the core. */
export const CAMPAIGNS: Readonly<Record<string, CampaignRow>> = {
  cluster: {
    file: 'test/cluster/campaign/table-cluster.slow.test.ts',
    promise:
      'Three nodes on PostgreSQL and two mirrors lose and repeat nothing, and answer with the same bytes',
    unit: 'faults',
    sizes: { quick: 4, hour: 40, night: 200 },
    seed: 'three nodes on PostgreSQL',
  },
  everything: {
    file: 'test/cluster/campaign/everything.slow.test.ts',
    promise:
      'Nodes, mirrors, chain, outbox, witnesses and backups keep their promises while all of them fail together',
    unit: 'faults',
    sizes: { quick: 0, hour: 60, night: 200 },
    seed: 'all faults at once',
  },
  'hostile-rows': {
    file: 'test/cluster/requests/hostile-rows.test.ts',
    promise: 'No damaged row of a table, and no damaged file of a node on one, is more than a refusal',
    unit: 'inputs',
    sizes: { quick: 3_000, hour: 100_000, night: 1_000_000 },
    seed: 'damaged rows',
  },
  'node-model': {
    file: 'test/cluster/model/node-model.slow.test.ts',
    promise:
      'Three nodes of a log on a table lose, double and sign nothing twice in virtual time, even when the tail is lost',
    unit: 'schedules of each of three kinds',
    sizes: { quick: 20, hour: 600, night: 10_000 },
    seed: 'one node leads',
  },
}
