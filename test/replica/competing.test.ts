import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { suite, test } from 'node:test'
import { NO_FAULTS } from '../engine/engine-faults.ts'
import type { ModelCluster } from './model-cluster.ts'
import { withCluster } from './model-cluster.ts'
import type { Mutant } from './mutant.ts'
import { NO_MUTANT } from './mutant.ts'

type Story = Pick<ModelCluster, 'engine' | 'now' | 'publish' | 'writers'>

/** Commits of one writer, and the longest time of one. */
type Progress = Readonly<{ count: number; slowestMs: number }>

/** Lets each writer publish without end for some time, with so many requests at once. Asserts that all are committed. */
async function compete({ now, publish, writers }: Story, ms: number, atOnce: number): Promise<Progress[]> {
  const until = now() + ms
  const one = async (writer: Story['writers'][number], name: string): Promise<Progress> => {
    let [count, slowestMs] = [0, 0]
    for (; now() < until; count += 1) {
      const began = now()
      assert.equal(await publish(writer, `${name} ${count}`), 'committed')
      slowestMs = Math.max(slowestMs, now() - began)
    }
    return { count, slowestMs }
  }
  return await Promise.all(
    writers.map(async (writer) => {
      const all = await Promise.all(
        Array.from({ length: atOnce }, (_, index) => one(writer, `${writer.name} ${index}`)),
      )
      const count = all.reduce((sum, progress) => sum + progress.count, 0)
      return { count, slowestMs: Math.max(...all.map(({ slowestMs }) => slowestMs)) }
    }),
  )
}

function report(t: TestContext, all: readonly Progress[]): void {
  t.diagnostic(
    all.map(({ count, slowestMs }) => `${count} commits, ${Math.round(slowestMs)} ms at most`).join('; '),
  )
}

/** Opens a mutant whose first writer waits before each append, and before and after each question if it is far. */
function firstSlower(isFar: boolean): Readonly<{ mutant: Mutant; begin(wait: () => Promise<void>): void }> {
  let opened = 0
  let wait = async (): Promise<void> => undefined
  const far = async <Answer>(question: () => Promise<Answer>): Promise<Answer> => {
    if (!isFar) return await question()
    await wait()
    const answer = await question()
    await wait()
    return answer
  }
  return {
    begin: (slow) => void (wait = slow),
    mutant: {
      connection(connection) {
        opened += 1
        if (opened > 1) return connection
        const { log } = connection
        return {
          ...connection,
          log: {
            ...log,
            async append(...message) {
              if (!isFar) await wait()
              return await far(() => log.append(...message))
            },
            read: (...question) => far(() => log.read(...question)),
            last: () => far(() => log.last()),
          },
        }
      },
    },
  }
}

suite('three writers that compete', () => {
  for (const delayMs of [1, 20]) {
    test(`all progress, with ${delayMs} ms to the engine`, (t) =>
      withCluster(NO_MUTANT, async (cluster) => {
        cluster.engine.setFaults({ ...NO_FAULTS, delayMs })
        const own = await compete(cluster, 10_000, 1)
        report(t, own)
        const all = own.reduce((sum, { count }) => sum + count, 0)
        for (const { count, slowestMs } of own) {
          assert.ok(count > all * 0.2, `${count} of ${all}`)
          assert.ok(slowestMs < 50 * delayMs + 200, `${slowestMs} ms`)
        }
      }))
  }

  for (const [slower, isFar, slowMs, atOnce, least] of [
    ['is 10 ms farther from the engine', true, 10, 4, 20],
    ['takes 150 ms longer to append', false, 150, 4, 20],
    // One attempt then takes almost as long as it may.
    ['takes 950 ms longer to append', false, 950, 1, 4],
  ] as const) {
    test(`all progress, also one that ${slower}`, (t) => {
      const { mutant, begin } = firstSlower(isFar)
      return withCluster(mutant, async (cluster) => {
        const { engine, sleep } = cluster
        engine.setFaults({ ...NO_FAULTS, delayMs: 5 })
        begin(() => sleep(slowMs))
        const own = await compete(cluster, 30_000, atOnce)
        report(t, own)
        for (const { count, slowestMs } of own) {
          assert.ok(count > least, `${count} commits`)
          assert.ok(slowestMs < 10_000, `${slowestMs} ms`)
        }
      })
    })
  }
})
