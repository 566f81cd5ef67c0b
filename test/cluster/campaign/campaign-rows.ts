import type { CampaignRow } from '../../torture/campaigns.ts'

/** Campaigns of the log on a table. `npm run torture` runs them with those of the core. */
export const CAMPAIGNS: Readonly<Record<string, CampaignRow>> = {
  cluster: {
    file: 'test/cluster/campaign/table-cluster.test.ts',
    promise:
      'Three nodes on PostgreSQL and two mirrors lose and repeat nothing, and answer with the same bytes',
    unit: 'faults',
    sizes: { quick: 6, hour: 40, night: 200 },
    seed: 'three nodes on PostgreSQL',
  },
  everything: {
    file: 'test/cluster/campaign/everything.test.ts',
    promise:
      'Nodes, mirrors, chain, outbox, witnesses and backups keep their promises while all of them fail together',
    unit: 'faults',
    sizes: { quick: 0, hour: 60, night: 300 },
    part: 50,
    seed: 'all faults at once',
  },
}
