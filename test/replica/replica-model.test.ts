import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ScheduleKind } from './model-schedule.ts'
import { runSchedule } from './model-schedule.ts'
import { MUTANTS, NO_MUTANT } from './mutant.ts'

/** Schedules of each kind. A failure names the seed of its schedule. The long campaign is `DAYBOOK_CAMPAIGN=3000`. */
const SCHEDULES = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 6)
/** Number of the first schedule. */
const FIRST = Number(process.env['DAYBOOK_SEED'] ?? 1)
/** Schedules after which a mutant that nobody has noticed is a failure. */
const MUTANT_SCHEDULES = 40

const KINDS = [
  ['faults', 'with faults of the network, crashes and full disks'],
  ['restore', 'when the engine loses its tail while all are connected'],
  ['loss', 'when the engine loses its tail at any time, except in a fork that all of them declare'],
] as const satisfies readonly (readonly [ScheduleKind, string])[]

/** Schedules that have shown a mistake. */
const ONCE_WRONG = [['loss', 7714]] as const satisfies readonly (readonly [ScheduleKind, number])[]

suite('three writers of one log', () => {
  for (const [kind, when] of KINDS) {
    test(`lose and double nothing, sign no size twice and go on, ${when}`, async (t) => {
      const sums: Record<string, number> = {}
      const count = (name: string, by: number): void => void (sums[name] = (sums[name] ?? 0) + by)
      for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
        const { wrong, stops, counts } = await runSchedule(`${kind} ${seed}`, kind, NO_MUTANT)
        assert.deepEqual(wrong, [], `schedule ${kind} ${seed}`)
        for (const [name, by] of Object.entries(counts)) count(name, by)
        count('forks', stops.length > 0 ? 1 : 0)
      }
      t.diagnostic(`${SCHEDULES} schedules: ${JSON.stringify(sums)}`)
    })
  }

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
