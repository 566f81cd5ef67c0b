import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ScheduleKind } from './model-schedule.ts'
import { runSchedule } from './model-schedule.ts'
import { MUTANTS, NO_MUTANT } from './mutant.ts'

/** Schedules of each kind. A campaign runs as many as it says. */
const CAMPAIGN = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 0)
const SCHEDULES = CAMPAIGN > 1 ? CAMPAIGN : 6
/** Schedules after which a mutant that nobody has noticed is a failure. */
const MUTANT_SCHEDULES = 40
const FIRST = Number(process.env['DAYBOOK_SEED'] ?? 1)

const KINDS = {
  faults: 'faults',
  restore: 'a lost tail, all writers connected',
  loss: 'a tail lost at any time',
}

suite('three writers of one log', () => {
  for (const [kind, told] of Object.entries(KINDS) as [ScheduleKind, string][]) {
    test(`lose, double and fork nothing unsaid: ${told}`, async (t) => {
      const sums: Record<string, number> = {}
      for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
        const { wrong, stops, counts } = await runSchedule(`${kind} ${seed}`, kind, NO_MUTANT)
        assert.deepEqual(wrong, [], `seed ${kind} ${seed}`)
        for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
        if (stops.length > 0) sums['forks'] = (sums['forks'] ?? 0) + 1
      }
      t.diagnostic(`${SCHEDULES} schedules: ${JSON.stringify(sums)}`)
    })
  }

  for (const [name, mutant] of Object.entries(MUTANTS)) {
    test(`are found out when one ${name}`, async () => {
      const kind = name === 'offers no lost message again' ? 'restore' : 'faults'
      for (let seed = 1; seed <= MUTANT_SCHEDULES; seed += 1) {
        const { wrong } = await runSchedule(`${kind} ${seed}`, kind, mutant)
        if (wrong.length > 0) return
      }
      assert.fail(`${MUTANT_SCHEDULES} schedules did not show the mutant`)
    })
  }
})
