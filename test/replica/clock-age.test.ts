import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { EngineError } from '../../src/engine/log-engine.ts'
import { publishingFault } from '../../src/publish/cluster/cluster-report.ts'
import { withCluster } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'

const faultOf = ({ run }: ModelWriter): string | null =>
  publishingFault(run()?.replica.state() ?? assert.fail('the writer runs'))

const FAILURES = {
  engine: () => {
    throw new EngineError('no answer')
  },
  clock: () => ({ offsetMs: 0, errorMs: 1001 }),
} as const

suite('a writer whose clock was compared with that of the engine', () => {
  for (const [word, measured] of Object.entries(FAILURES)) {
    test(`30 seconds ago refuses, says ${word}, and goes on after the next comparison`, () => {
      let fails = false
      const mutant = {
        connection: <Connection extends { clockOffset(): Promise<{ offsetMs: number; errorMs: number }> }>(
          connection: Connection,
        ): Connection => ({
          ...connection,
          clockOffset: async () => (fails ? measured() : await connection.clockOffset()),
        }),
      }
      return withCluster(mutant, async ({ publish, sleep, writers: [a] }) => {
        assert.equal(await publish(a, 'before'), 'committed')
        fails = true
        await sleep(19_000)
        assert.equal(await publish(a, 'fresh enough'), 'committed')
        assert.equal(faultOf(a), null)
        await sleep(13_000)
        assert.equal(faultOf(a), word)
        assert.equal(await publish(a, 'late'), word === 'clock' ? 'clock' : 'unavailable')
        assert.equal(a.run()?.replica.state().engine.offset, null)
        fails = false
        await sleep(1000)
        assert.equal(faultOf(a), null)
        assert.equal(await publish(a, 'after'), 'committed')
      })
    })
  }
})
