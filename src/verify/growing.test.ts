import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { auditOf, findingLines } from '../../test/stage/audit-stage.ts'
import { newKey, type PublicLog, publicLog } from '../../test/story/public-log.ts'
import { randomLogs } from '../../test/story/random-log.ts'
import type { Source } from './reading/source.ts'

const RUNS = Number(process.env['DAYBOOK_CAMPAIGN'] ?? 8)
const key = newKey()

suite('a log that grows during an audit', () => {
  test('is found correct, also when an event ends a minute or a month', async () => {
    await fc.assert(
      fc.asyncProperty(
        randomLogs,
        fc.array(fc.constantFrom(0, 0, 0, 1, 1, 2, 5), { minLength: 5, maxLength: 40 }),
        fc.nat(60),
        async (entries, steps, from) => {
          const logs = new Map<number, PublicLog>()
          let size = Math.min(from, entries.length)
          let asked = 0
          const now = (): PublicLog => {
            const log = logs.get(size) ?? publicLog(entries.slice(0, size), key)
            logs.set(size, log)
            return log
          }
          let answered = now()
          const read: Source['read'] = async (path) => {
            answered = now()
            const body = answered.body(path)
            size = Math.min(entries.length, size + (steps[asked++ % steps.length] ?? 0))
            return body
          }
          const source: Source = { ...now().source(), read }
          const found = await auditOf(now(), undefined, { source, now: () => answered.now })
          assert.deepEqual(findingLines(found), [])
          assert.ok(asked > 20, `${asked} requests`)
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})
