import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openCampaign } from '../../torture/campaign.ts'
import { CAMPAIGNS } from '../campaign/campaign-rows.ts'
import type { ScheduleKind } from './model-faults.ts'
import { runSchedule } from './model-schedule.ts'
import { LOSS_MUTANTS, MUTANTS, NO_MUTANT } from './mutant.ts'

const CAMPAIGN = openCampaign('node-model', CAMPAIGNS)
/** Schedules of each kind. A failure names its schedule. */
const SCHEDULES = CAMPAIGN.size
/** Number of the first schedule. No two seeds share a schedule. */
const FIRST = CAMPAIGN.seedNumber * 10_000
/** Schedules after which a mutant that nobody has noticed is a failure. */
const MUTANT_SCHEDULES = 60

const KINDS = [
  ['faults', 'with faults of the network, of nodes and of standbys'],
  ['restore', 'when the table loses its tail while all are connected'],
  ['loss', 'when the table loses its tail at any time: who differs then stops, and keeps its rows'],
] as const satisfies readonly (readonly [ScheduleKind, string])[]

/** Schedules that have shown a mistake of the node: a leader behind a pooler, and a leader that showed no place. */
const ONCE_WRONG = [
  ['faults', 233],
  ['restore', 306],
  ['loss', 326],
] as const satisfies readonly (readonly [ScheduleKind, number])[]

const counted: Record<string, number> = {}

suite('three nodes of one log', () => {
  for (const [kind, when] of KINDS) {
    test(`lose and double nothing, sign no size twice and go on, ${when}`, async (t) => {
      const sums: Record<string, number> = {}
      const count = (name: string, by: number): void => {
        for (const into of [sums, counted]) into[name] = (into[name] ?? 0) + by
      }
      for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
        const { wrong, stops, counts } = await runSchedule(`${kind} ${seed}`, kind, NO_MUTANT)
        assert.deepEqual(wrong, [], `schedule ${kind} ${seed}`)
        for (const [name, by] of Object.entries(counts)) count(name, by)
        count('stops', stops.length)
      }
      t.diagnostic(`${SCHEDULES} schedules: ${JSON.stringify(sums)}`)
    })
  }

  test('met faults of each kind', (t) => {
    const all = KINDS.length * SCHEDULES
    const some = {
      crash: all,
      cut: all,
      pause: all,
      failover: all,
      standby: all,
      pooler: all,
      takeovers: all,
    }
    const floors = { schedules: all, rows: all * 10, early: all * 10, loss: SCHEDULES, ...some }
    CAMPAIGN.finish(t, { schedules: all, ...counted }, floors)
  })

  for (const [kind, seed] of ONCE_WRONG) {
    test(`make no mistake in the schedule ${kind} ${seed} again`, async () => {
      const { wrong } = await runSchedule(`${kind} ${seed}`, kind, NO_MUTANT)
      assert.deepEqual(wrong, [])
    })
  }

  const mutants = [
    ...Object.entries(MUTANTS).map(([name, mutant]) => [name, mutant, 'faults'] as const),
    ...Object.entries(LOSS_MUTANTS).map(([name, mutant]) => [name, mutant, 'restore'] as const),
  ] as const
  for (const [name, mutant, kind] of mutants) {
    test(`are found out when each ${name}`, async () => {
      for (let seed = 1; seed <= MUTANT_SCHEDULES; seed += 1) {
        const { wrong } = await runSchedule(`${kind} ${seed}`, kind, mutant)
        if (wrong.length > 0) return
      }
      assert.fail(`${MUTANT_SCHEDULES} schedules did not show the mutant`)
    })
  }
})
