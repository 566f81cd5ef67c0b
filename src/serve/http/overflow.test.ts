import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isTargetTooLong } from './overflow.ts'

const LONG = 'x'.repeat(9_000)
const FORMER = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

suite('a request too long for the parser', () => {
  const cases: readonly (readonly [name: string, taken: string, rest: string, isTarget: boolean])[] = [
    ['has a long target', `GET /${LONG}`, ' HTTP/1.1\r\n', true],
    ['has a long target that came in two packets', LONG, ' HTTP/1.1\r\n', true],
    ['has a long target that goes on', LONG, '', true],
    ['has a long target behind a former request', `${FORMER}GET /${LONG}`, ' HTTP/1.1\r\n', true],
    ['has a long target and a header too much', `GET /${LONG} HTTP/1.1\r\nHost: a`, '\r\n', true],
    ['has a long header', `GET / HTTP/1.1\r\nX: ${LONG}`, '\r\n', false],
    ['has a long header that came in two packets', LONG, '\r\n\r\n', false],
    ['has many headers that came in two packets', `xx\r\nX-A: ${LONG}`, '', false],
    ['has a long header of words that goes on', `${LONG} ${LONG}`, '', false],
    ['has a long header behind a former request', `${FORMER}GET / HTTP/1.1\r\nX: ${LONG}`, '\r\n', false],
  ]
  for (const [name, taken, rest, isTarget] of cases) {
    test(`${name}: ${isTarget ? 414 : 431}`, () => {
      assert.equal(isTargetTooLong(Buffer.from(taken + rest), taken.length), isTarget)
    })
  }
})
