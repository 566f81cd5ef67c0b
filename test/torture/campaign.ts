import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { type Random, randomOf } from '../../sim/random.ts'
import { type CampaignRow, CAMPAIGNS } from './campaigns.ts'

/** Counts of a campaign, by name. Whole numbers, except for times, whose names end with a unit. */
export type Figures = Readonly<Record<string, number>>

/** A campaign as it runs: how large, from which seed, and the report at its end. */
export type Campaign = Readonly<{
  /** Number of units, such as kills: `DAYBOOK_CAMPAIGN`, or the size inside `npm run test:all`. */
  size: number
  /** `DAYBOOK_SEED`, or the seed inside `npm run test:all`. The same seed draws the same faults and drafts again. */
  seed: string
  /** The seed as a whole number from 0 to 2^31 − 1, for libraries that want one. */
  seedNumber: number
  random: Random
  /**
   * Reports what the run counted. Fails when a figure is below its floor: a run whose faults did not fire, or that met
   * no traffic, proves nothing.
   */
  finish(t: TestContext, figures: Figures, floors: Figures): void
}>

/** Line of a record: what `npm run torture` reads after a campaign. */
export type RecordedCampaign = Readonly<{ name: string; size: number; seed: string; figures: Figures }>

/** Opens a campaign with the size and seed that the environment names, or with those of `npm run test:all`. */
export function openCampaign(
  name: string,
  campaigns: Readonly<Record<string, CampaignRow>> = CAMPAIGNS,
): Campaign {
  const row = campaigns[name] ?? assert.fail(`no row has the name ${name}`)
  const size = Number(process.env['DAYBOOK_CAMPAIGN'] ?? row.sizes.quick)
  const seed = process.env['DAYBOOK_SEED'] ?? row.seed
  const record = process.env['DAYBOOK_RECORD']
  return {
    size,
    seed,
    seedNumber: seedNumberOf(seed),
    random: randomOf(seed),
    finish(t, figures, floors) {
      t.diagnostic(`${name}: ${size} ${row.unit}, seed: ${seed} (set it with DAYBOOK_SEED)`)
      t.diagnostic(JSON.stringify(figures))
      for (const [figure, floor] of Object.entries(floors))
        assert.ok((figures[figure] ?? 0) >= floor, `${figure}: ${figures[figure] ?? 0} of at least ${floor}`)
      const line: RecordedCampaign = { name, size, seed, figures }
      if (record !== undefined) appendFileSync(record, `${JSON.stringify(line)}\n`)
    },
  }
}

/** A whole number stays what it is, so that a library's own report of its seed can be given back. */
function seedNumberOf(seed: string): number {
  return /^\d{1,9}$/.test(seed) ? Number(seed) : Number.parseInt(hash('sha256', seed).slice(0, 8), 16) >>> 1
}
