import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LogEngine } from '../../src/engine/log-engine.ts'
import type { ModelCluster } from './model-cluster.ts'
import { stopOf, withCluster } from './model-cluster.ts'
import type { ModelWriter } from './model-writer.ts'
import type { Mutant } from './mutant.ts'
import { NO_MUTANT } from './mutant.ts'

/** Names of the writers that do work of their own accord. */
const leading = (writers: readonly ModelWriter[]): string =>
  writers.flatMap(({ name, run }) => (run()?.replica.leads() === true ? [name] : [])).join()

/** Opens a mutant whose first writer finds its clock apart from the engine's. */
function firstClockApart(): Readonly<{ mutant: Mutant; part(offsetMs: number): void }> {
  let opened = 0
  let apartMs = 0
  return {
    part: (offsetMs) => void (apartMs = offsetMs),
    mutant: {
      connection(connection) {
        opened += 1
        if (opened > 1) return connection
        return {
          ...connection,
          async clockOffset() {
            const { offsetMs, errorMs } = await connection.clockOffset()
            return { offsetMs: offsetMs + apartMs, errorMs }
          },
        }
      },
    },
  }
}

/** Opens a mutant whose first writer gets no answer to its appends, while it is cut off. */
function firstAppendsNothing(): Readonly<{
  mutant: Mutant
  cut(answer: (() => Promise<void>) | null): void
}> {
  let opened = 0
  let late: (() => Promise<void>) | null = null
  return {
    cut: (answer) => void (late = answer),
    mutant: {
      connection(connection) {
        opened += 1
        if (opened > 1) return connection
        const append: LogEngine['append'] = async (...message) => {
          if (late === null) return await connection.log.append(...message)
          await late()
          return 'unknown'
        }
        return { ...connection, log: { ...connection.log, append } }
      },
    },
  }
}

/** Lets A make the newest message, spoils it, and asserts that B, and only B, leads soon. Then mends A. */
async function assertLeft(
  { publish, sleep, writers }: ModelCluster,
  spoil: (a: ModelWriter) => unknown,
  mend: ((a: ModelWriter) => void) | null,
): Promise<void> {
  const [a] = writers
  assert.equal(await publish(a, 'one'), 'committed')
  await sleep(3000)
  assert.equal(leading(writers), 'A')
  await spoil(a)
  await sleep(5000)
  assert.equal(leading(writers), 'B')
  if (mend === null) return
  mend(a)
  await sleep(12_000)
  assert.equal(leading(writers), 'A')
}

suite('a writer that leads and can publish no more leaves the lead to another', () => {
  test('when its disk is full', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      const spoil = (a: ModelWriter): void => {
        a.disk.isFull = true
        void cluster.publish(a, 'two')
      }
      await assertLeft(cluster, spoil, ({ disk }) => void (disk.isFull = false))
    }))

  test('when its disk was too full for a commit, before it was offered', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      const spoil = ({ disk }: ModelWriter): void => void (disk.isTight = true)
      await assertLeft(cluster, spoil, ({ disk }) => void (disk.isTight = false))
    }))

  test('when its disk fails', () =>
    withCluster(NO_MUTANT, async (cluster) => {
      const spoil = async (a: ModelWriter): Promise<void> => {
        a.disk.isBroken = true
        await cluster.publish(a, 'two')
      }
      await assertLeft(cluster, spoil, null)
      assert.equal(stopOf(cluster.writers[0]), 'local')
    }))

  test('when its clock is 5 seconds from that of the engine', () => {
    const { mutant, part } = firstClockApart()
    return withCluster(mutant, async (cluster) => {
      const spoil = async (): Promise<void> => {
        part(5000)
        await cluster.sleep(11_000)
      }
      await assertLeft(cluster, spoil, () => part(0))
    })
  })

  test('when its appends get no answer, and its marks pass', () => {
    const { mutant, cut } = firstAppendsNothing()
    return withCluster(mutant, async (cluster) => {
      const spoil = (a: ModelWriter): void => {
        cut(() => cluster.sleep(1000))
        void cluster.publish(a, 'two')
      }
      await assertLeft(cluster, spoil, () => cut(null))
    })
  })
})

test('a writer that has the key of another running one does not take the lead', () =>
  withCluster(NO_MUTANT, async ({ join, sleep, writers }) => {
    assert.equal(leading(writers), 'A')
    const first = join('0', { key: 'C' })
    await sleep(15_000)
    assert.equal(leading([first, ...writers]), 'A')
  }))
