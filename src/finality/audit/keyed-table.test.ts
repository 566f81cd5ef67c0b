import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { openKeyedTable } from './keyed-table.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
const open = (key = 1): ReturnType<typeof openKeyedTable> =>
  openKeyedTable(new Uint8Array(32).fill(key), sha256)

suite('the rows of a keyed table', () => {
  test('are numbered from 0 by the first time of their text, whatever its length', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 128, size: 'max' })), (texts) => {
        const table = open()
        const known = new Map<string, ReturnType<typeof table.row>>()
        for (const text of [...texts, ...texts]) {
          const before = known.get(text)
          const row = table.row(text)
          if (before === undefined) assert.deepEqual([row.index, row.isNew], [known.size, true])
          else assert.deepEqual(row, { ...before, isNew: false })
          known.set(text, row)
        }
      }),
    )
  })

  test('stay the same when the table grows', () => {
    const table = open()
    const texts = Array.from({ length: 2_100 }, (_, index) => `a text ${index}`)
    const rows = texts.map(table.row)
    assert.deepEqual(
      rows.map(({ index, isNew }) => [index, isNew]),
      texts.map((_, index) => [index, true]),
    )
    for (const [index, text] of texts.entries())
      assert.deepEqual(table.row(text), { ...rows[index], isNew: false })
  })

  test('differ in texts that share all but their last characters', () => {
    const table = open()
    const common = 'x'.repeat(87)
    const rows = Array.from({ length: 10 }, (_, digit) => table.row(`${common}${digit}`))
    assert.deepEqual(
      rows.map(({ index }) => index),
      rows.map((_, index) => index),
    )
  })

  test('have whole ranks below 2^53, which depend on the key', () => {
    const ranks = (key: number): readonly number[] =>
      Array.from({ length: 200 }, (_, index) => open(key).row(`a text ${index}`).rank)
    const [one, other] = [ranks(1), ranks(2)]
    for (const rank of one) assert.ok(Number.isSafeInteger(rank) && rank >= 0, String(rank))
    assert.equal(new Set([...one, ...other]).size, 400)
    const high = one.filter((rank) => rank >= 2 ** 52).length
    assert.ok(high > 60 && high < 140, `${high} of 200 ranks are in the upper half`)
  })
})
