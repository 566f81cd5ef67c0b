import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { withCluster } from './model-cluster.ts'
import type { Mutant } from './mutant.ts'

/** Counts the reads of an engine. */
function countReads(): Readonly<{ mutant: Mutant; reads(): number }> {
  let reads = 0
  return {
    reads: () => reads,
    mutant: {
      connection: (connection) => ({
        ...connection,
        log: {
          ...connection.log,
          read(...question) {
            reads += 1
            return connection.log.read(...question)
          },
        },
      }),
    },
  }
}

suite('commits of one writer', () => {
  test('follow each other without a read of the engine', () => {
    const { mutant, reads } = countReads()
    return withCluster(mutant, async ({ publish, sleep, writers: [a, b, c] }) => {
      // Their reads are not counted.
      for (const other of [b, c]) other.crash()
      await sleep(12_000)
      assert.equal(await publish(a, 'first'), 'committed')
      const before = reads()
      for (let number = 0; number < 20; number++) {
        assert.equal(await publish(a, `ref ${number}`), 'committed')
        await sleep(1)
      }
      assert.equal(reads() - before, 0)
    })
  })

  test('do not wait after a late hint of their own message', () => {
    let later = async (): Promise<void> => undefined
    const lateHints: Mutant = {
      connection: (connection) => ({
        ...connection,
        log: {
          ...connection.log,
          async wait(...question) {
            await connection.log.wait(...question)
            await later()
          },
        },
      }),
    }
    return withCluster(lateHints, async ({ now, publish, sleep, writers: [a] }) => {
      later = () => sleep(3)
      await sleep(2000)
      for (let number = 0; number < 20; number++) {
        await sleep(5)
        const began = now()
        assert.equal(await publish(a, `ref ${number}`), 'committed')
        assert.ok(now() - began < 5, `commit ${number} took ${now() - began} ms`)
      }
    })
  })
})
