import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { identityOfRows, rowsOfIdentity } from './identity-rows.ts'
import type { LogIdentity } from './reader.ts'

const IDENTITY: LogIdentity = {
  id: 'e71723c3c9755ca5879cc297245f1e00',
  origin: 'daybook.test/log',
  chain: 'opaque',
  simulated: false,
  former: [{ id: '0'.repeat(32), origin: 'daybook.test/log', size: 3 }],
}
const ROWS = rowsOfIdentity(IDENTITY)

/** A text with one of its bits flipped: all such texts. */
function* flips(text: string): Generator<string> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 1)
    for (let bit = 0; bit < 7; bit += 1) {
      const flipped = Uint8Array.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      yield Buffer.from(flipped).toString()
    }
}

suite('the rows that say which log a store has', () => {
  test('give the identity that was written', () => {
    assert.deepEqual(identityOfRows(new Map(ROWS)), IDENTITY)
    const others = [
      ['needs', '0.1.0'],
      ['mirror_of', 'https://data.example.org'],
      ['table_place', '7'],
    ] as const
    assert.deepEqual(identityOfRows(new Map([...ROWS, ...others])), IDENTITY)
  })

  test('are refused with any bit of a name or a value flipped', () => {
    for (const [key, value] of ROWS) {
      const rest = ROWS.filter(([other]) => other !== key)
      for (const flipped of flips(key))
        assert.equal(typeof identityOfRows(new Map([...rest, [flipped, value]])), 'string', flipped)
      for (const flipped of flips(value))
        assert.equal(
          typeof identityOfRows(new Map([...rest, [key, flipped]])),
          'string',
          `${key}: ${flipped}`,
        )
    }
  })

  test('are refused beside a row of an unknown name, which is told', () => {
    const found = identityOfRows(new Map([...ROWS, ['table_plape', '7']]))
    assert.equal(found, 'its table meta has a row of an unknown name, "table_plape"')
  })
})
