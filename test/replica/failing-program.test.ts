import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { stopOf, withCluster } from './model-cluster.ts'
import type { Mutant } from './mutant.ts'

/** A program with a fault in one of its background loops, from its second use on. */
const FAULTY: Readonly<Record<string, Mutant>> = {
  'hears the others': {
    connection(connection) {
      const get = failsLater(() => 0)
      const onTold = (listener: (bytes: Uint8Array) => void): void =>
        connection.onTold(() => listener(Object.defineProperty(new Uint8Array(), 'length', { get })))
      return { ...connection, onTold }
    },
  },
  'tells the others': { connection: (connection) => ({ ...connection, tell: failsLater(connection.tell) }) },
  'inspects the engine': {
    connection: (connection) => ({ ...connection, inspect: failsLater(connection.inspect) }),
  },
  'follows the log': {
    connection: (connection) => ({
      ...connection,
      log: { ...connection.log, wait: failsLater(connection.log.wait) },
    }),
  },
}

function failsLater<Given extends readonly unknown[], Answer>(
  of: (...given: Given) => Answer,
): (...given: Given) => Answer {
  let uses = 0
  return (...given) => {
    uses += 1
    if (uses > 1) throw new TypeError('a bug')
    return of(...given)
  }
}

suite('a writer whose program fails', () => {
  for (const [doing, mutant] of Object.entries(FAULTY)) {
    test(`stops with a named reason when it ${doing}`, () =>
      withCluster(mutant, async ({ publish, sleep, writers: [a] }) => {
        await sleep(30_000)
        assert.match(
          a.run()?.replica.state().stopped?.reason ?? '',
          /^the program of this node failed: .*a bug/,
        )
        assert.equal(stopOf(a), 'local')
        assert.equal(await publish(a, 'ref'), 'stopped')
      }))
  }
})
