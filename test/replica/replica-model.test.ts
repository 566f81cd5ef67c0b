import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openCampaign } from '../torture/campaign.ts'
import type { ScheduleKind } from './model-schedule.ts'
import { runSchedule } from './model-schedule.ts'
import { MUTANTS, NO_MUTANT } from './mutant.ts'

const CAMPAIGN = openCampaign('replica-model')
/** Schedules of each kind. A failure names its schedule. */
const SCHEDULES = CAMPAIGN.size
/** Number of the first schedule. No two seeds share a schedule. */
const FIRST = CAMPAIGN.seedNumber * 10_000
/** Schedules after which a mutant that nobody has noticed is a failure. */
const MUTANT_SCHEDULES = 40

const KINDS = [
  ['faults', 'with faults of the network, crashes and full disks'],
  ['restore', 'when the engine loses its tail while all are connected'],
  ['loss', 'when the engine loses its tail at any time, except in a fork that all of them declare'],
] as const satisfies readonly (readonly [ScheduleKind, string])[]

/** Schedules that have shown a mistake. */
const ONCE_WRONG = [['loss', 7714]] as const satisfies readonly (readonly [ScheduleKind, number])[]

const counted: Record<string, number> = {}

suite('three writers of one log', () => {
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
        count('forks', stops.length > 0 ? 1 : 0)
      }
      t.diagnostic(`${SCHEDULES} schedules: ${JSON.stringify(sums)}`)
    })
  }

  test('met faults of each kind', (t) => {
    const all = KINDS.length * SCHEDULES
    CAMPAIGN.finish(
      t,
      { schedules: all, ...counted },
      { schedules: all, messages: all * 10, acknowledged: all * 10, crash: all, cut: all, loss: SCHEDULES },
    )
  })

  for (const [kind, seed] of ONCE_WRONG) {
    test(`make no mistake in the schedule ${kind} ${seed} again`, async () => {
      const { wrong } = await runSchedule(`${kind} ${seed}`, kind, NO_MUTANT)
      assert.deepEqual(wrong, [])
    })
  }

  for (const [name, mutant] of Object.entries(MUTANTS)) {
    test(`are found out when each ${name}`, async () => {
      const kind = name === 'offers no lost message again' ? 'restore' : 'faults'
      for (let seed = 1; seed <= MUTANT_SCHEDULES; seed += 1) {
        const { wrong } = await runSchedule(`${kind} ${seed}`, kind, mutant)
        if (wrong.length > 0) return
      }
      assert.fail(`${MUTANT_SCHEDULES} schedules did not show the mutant`)
    })
  }
})
