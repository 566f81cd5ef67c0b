import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { chosenFaults, type ClusterFault } from './cluster.ts'
import { lossesOf } from './history-checker.ts'
import type { SentRequest } from './history.ts'

const line = (seq: number, amount = seq): string =>
  `{"seq":${seq},"atMs":${seq},"type":"treasury","kind":"deposit","kots":"${amount}.000000001"}`
const LOG = [1, 2, 3].map((seq) => line(seq))
const REQUESTS: readonly SentRequest[] = [1, 2, 3].map((seq) => ({
  publisher: 'p',
  drafts: [{ ref: `ref-${seq}`, type: 'treasury', kind: 'deposit', kots: `${seq}.000000001` }],
  firstSentMs: 0,
  acks: [{ node: 'one', seqs: [seq], atMs: 1 }],
  holds: [],
  refusals: [],
  expected: 'published',
  unknowns: 0,
}))

suite('the comparison with the log after each fault', () => {
  test('finds nothing in a log with all that was acknowledged, and more', () => {
    assert.deepEqual(lossesOf(REQUESTS, [...LOG, line(4)]), [])
  })

  test('finds an acknowledged draft that is lost, moved or doubled', () => {
    assert.match(lossesOf(REQUESTS, LOG.slice(0, 2)).join(), /ref-3 was acknowledged by one at 3 and is lost/)
    assert.match(
      lossesOf(REQUESTS, [line(1), line(2, 3), line(3, 2)]).join(),
      /at 2, which has another event/,
    )
    assert.match(lossesOf(REQUESTS, [...LOG, line(4, 2)]).join(), /one draft is at 2 and 4/)
  })

  test('finds a gap', () => {
    assert.match(lossesOf([], [line(1), line(3)]).join(), /place 2 has seq 3/)
  })
})

suite('a choice of faults', () => {
  test('gives one that stands alone no second one, and joins it to no other', () => {
    const fire = async (): Promise<null> => null
    const faults: readonly ClusterFault[] = [
      { name: 'alone', place: 'a', isAlone: true, fire },
      { name: 'one', place: 'b', fire },
      { name: 'two', place: 'c', fire },
    ]
    const random = randomOf('alone')
    const choices = Array.from({ length: 200 }, () =>
      chosenFaults(faults, {}, random).map(({ name }) => name),
    )
    assert.ok(choices.some((names) => names.length === 2))
    for (const names of choices) if (names.includes('alone')) assert.deepEqual(names, ['alone'])
  })
})
