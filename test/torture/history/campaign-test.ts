import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Campaign, Figures } from '../campaign.ts'
import { type CampaignSettings, runCampaign } from './cluster-campaign.ts'
import type { Cluster } from './cluster.ts'
import { violationsOf } from './history-checker.ts'
import { openFolder } from '../../story/damaged-log.ts'

/** Least numbers of what a run has to meet, however few its faults are. */
const FLOORS = {
  acks: 20,
  repeats: 1,
  twice: 1,
  fallbacks: 1,
  unknowns: 1,
  refusals: 1,
  lookups: 1,
  input: 2,
  held: 1,
}
/** Output of a node that a failure shows. */
const SAID_CHARACTERS = 3_000
/** A fault may come in a pair, and a round has at least 20 acknowledgements. */
const ACKS_PER_FAULT = 10
const DELIVERIES_PER_SUBSCRIBER = 20

/** Runs a campaign on a new cluster and asserts that it met enough, and that all promises hold. Prints its figures. */
export async function assertCampaign(
  t: TestContext,
  { seed, size: faults, finish }: Campaign,
  open: (folder: string, seed: string) => Promise<Cluster>,
  sizes: Omit<CampaignSettings, 'folder' | 'seed' | 'faults'>,
  floors: Figures = {},
): Promise<void> {
  using folder = openFolder()
  const settings = { ...sizes, folder: folder.path, seed, faults }
  await using cluster = await open(folder.path, seed)
  const tell = (): void => {
    for (const { said, name, url } of cluster.nodes)
      t.diagnostic(`${name} at ${url()}: ${said().slice(-SAID_CHARACTERS)}`)
  }
  const { history, fired, counts } = await runCampaign(cluster, settings).catch((error: unknown) => {
    tell()
    throw error
  })
  t.diagnostic(JSON.stringify(fired))
  const violations = violationsOf(history)
  if (violations.length > 0) tell()
  assert.deepEqual(violations, [])
  const kinds = cluster.faults.length
  const total = Object.values(fired).reduce((sum, count) => sum + count, 0)
  assert.ok(Object.keys(fired).length >= Math.min(kinds, faults), 'each kind of fault took effect')
  const { subscribers } = settings
  finish(
    t,
    { faults: total, kinds: Object.keys(fired).length, ...counts },
    {
      ...FLOORS,
      acks: FLOORS.acks + faults * ACKS_PER_FAULT,
      faults,
      deliveries: subscribers * DELIVERIES_PER_SUBSCRIBER,
      hops: subscribers,
      ...floors,
    },
  )
}
