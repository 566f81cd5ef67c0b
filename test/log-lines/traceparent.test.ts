import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTraceparent } from '../../src/protocol/traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const GOOD = `00-${TRACE}-${PARENT}-01`

test('a well-formed traceparent is taken, of a later version its known part', () => {
  assert.equal(parseTraceparent(GOOD), GOOD)
  assert.equal(parseTraceparent(`00-${TRACE}-${PARENT}-ff`), `00-${TRACE}-${PARENT}-ff`)
  assert.equal(parseTraceparent(`cc-${TRACE}-${PARENT}-01`), `cc-${TRACE}-${PARENT}-01`)
  assert.equal(parseTraceparent(`cc-${TRACE}-${PARENT}-01-what-the-future`), `cc-${TRACE}-${PARENT}-01`)
})

for (const [why, header] of [
  ['is absent', undefined],
  ['is repeated', [GOOD, GOOD]],
  ['is a joined repetition', `${GOOD}, ${GOOD}`],
  ['is empty', ''],
  ['has version ff', `ff-${TRACE}-${PARENT}-01`],
  ['has more parts in version 00', `${GOOD}-more`],
  ['has more characters in a later version without a hyphen', `cc-${TRACE}-${PARENT}-01.more`],
  ['has upper case', GOOD.toUpperCase()],
  ['has an all-zero trace', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['has an all-zero parent', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['is short', GOOD.slice(0, -1)],
  ['has a line end', `${GOOD}\n`],
  ['has blanks around', ` ${GOOD} `],
  ['is long', `cc-${TRACE}-${PARENT}-01-${'x'.repeat(10_000)}`],
] as const) {
  test(`a traceparent that ${why} is ignored`, () => {
    assert.equal(parseTraceparent(header), undefined)
  })
}
