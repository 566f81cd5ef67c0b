import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { testAgainstOracle } from '../oracle/comparison.ts'
import { download } from '../oracle/download.ts'
import { expectedOf } from '../oracle/expected.ts'
import type { Expected, Input } from '../oracle/input.ts'
import type { Trial } from '../oracle/trial.ts'
import { type Service, startService } from '../stage/service.ts'

/**
 * Registers the tests of a data set: of the events that a service has imported, the oracle computes the expected figures,
 * and the service agrees with the oracle.
 */
export function testInput(open: () => Promise<Input>, asked: Readonly<Pick<Trial, 'rounds' | 'dice'>>): void {
  const trial: Trial = { base: '', book: [], ...asked }
  let expected: Expected | undefined
  let service: Service | undefined
  before(async () => {
    await using set = await open()
    expected = set.expected
    service = await startService({ drafts: set.drafts, chain: expected.chain ?? 'opaque' })
    trial.base = service.url
    trial.book = await download(service.url)
  })
  after(async () => service?.[Symbol.asyncDispose]())

  test('has the expected events, contests, flows and patterns', () => {
    const { chain: _, ...figures } = expected ?? assert.fail('the data set is open')
    assert.deepEqual(expectedOf(trial.book), figures)
  })
  suite('agrees between the oracle and the service', () => testAgainstOracle(trial))
}
