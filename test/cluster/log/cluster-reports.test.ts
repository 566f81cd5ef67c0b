import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Registry } from 'prom-client'
import { clusterReportReader } from '../../../src/cluster/log/cluster-reports.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { openLines } from '../../../src/command/log-lines/log-lines.ts'

const MISSING = 'the primary cannot be reached'
const ALONE = 'no synchronous standby is connected'

suite('the line about a table that cannot be used', () => {
  test('is written once a minute for the same reason, and at once for another one', () => {
    let nowMs = 0
    const said: unknown[] = []
    const monotonicMs = (): number => nowMs
    const lines = openLines((_fact, { reason }) => said.push(reason), monotonicMs)
    const read = clusterReportReader({
      registry: new Registry(),
      lines,
      context: { now: () => msOf(0), monotonicMs },
      show: () => undefined,
    })
    const steps = [
      [0, MISSING],
      [5_000, ALONE],
      [10_000, MISSING],
      [20_000, ALONE],
      [65_000, ALONE],
    ] as const
    for (const [ms, reason] of steps) {
      nowMs = ms
      read({ is: 'notice', notice: { is: 'away', reason } })
    }
    assert.deepEqual(said, [MISSING, ALONE, ALONE])
  })
})
