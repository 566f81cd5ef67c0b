import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isTargetTooLong } from './overflow.ts'

const LONG = 'x'.repeat(9_000)
const FORMER = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

suite('a request too long for the parser', () => {
  const cases: readonly (readonly [name: string, taken: string, rest: string, isTarget: boolean])[] = [
    ['has a long target', `GET /${LONG}`, ' HTTP/1.1\r\n', true],
    ['has a long target in two packets', LONG, ' HTTP/1.1\r\n', true],
    ['has a long target that continues', LONG, '', true],
    ['has a long target after an earlier request', `${FORMER}GET /${LONG}`, ' HTTP/1.1\r\n', true],
    ['has a long target and one header too many', `GET /${LONG} HTTP/1.1\r\nHost: a`, '\r\n', true],
    ['has a long header', `GET / HTTP/1.1\r\nX: ${LONG}`, '\r\n', false],
    ['has a long header in two packets', LONG, '\r\n\r\n', false],
    ['has many headers in two packets', `xx\r\nX-A: ${LONG}`, '', false],
    ['has a long header of words that continues', `${LONG} ${LONG}`, '', false],
    ['has a long header after an earlier request', `${FORMER}GET / HTTP/1.1\r\nX: ${LONG}`, '\r\n', false],
  ]
  for (const [name, taken, rest, isTarget] of cases) {
    test(`${name}: ${isTarget ? 414 : 431}`, () => {
      assert.equal(isTargetTooLong(Buffer.from(taken + rest), taken.length, false), isTarget)
    })
  }

  test('has a long header in more than two packets, of which an earlier one had the target: 431', () => {
    assert.equal(isTargetTooLong(Buffer.from(LONG), LONG.length, true), false)
  })
})
