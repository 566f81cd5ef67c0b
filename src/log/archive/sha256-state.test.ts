import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { beginSha256, decodeSha256, encodeSha256, sha256Of, updateSha256 } from './sha256-state.ts'

const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 })

function expected(bytes: readonly Uint8Array[]): string {
  return createHash('sha256').update(Buffer.concat(bytes)).digest('hex')
}

suite('a SHA-256 with a state that can be stored', () => {
  test('equals the platform’s at every length around a block', () => {
    for (let length = 0; length <= 200; length++) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 151 + length) % 256)
      const state = beginSha256()
      updateSha256(state, bytes)
      assert.equal(sha256Of(state), expected([bytes]), `${length} bytes`)
    }
  })

  test('does not depend on how its bytes are divided or where its state is stored', () => {
    fc.assert(
      fc.property(pieces, fc.infiniteStream(fc.boolean()), (all, isStored) => {
        let state = beginSha256()
        let bytes = 0
        for (const piece of all) {
          // A view of a larger buffer, like a segment of a file.
          updateSha256(state, Buffer.concat([Buffer.alloc(3), piece]).subarray(3))
          bytes += piece.length
          assert.equal(sha256Of(state), sha256Of(state))
          if (isStored.next().value === true) state = decodeSha256(encodeSha256(state), bytes)
        }
        assert.equal(sha256Of(state), expected(all))
      }),
    )
  })

  test('refuses a state of another number of bytes', () => {
    const state = beginSha256()
    updateSha256(state, new Uint8Array(70))
    assert.throws(() => decodeSha256(encodeSha256(state), 71), /a stored digest is of 71 bytes/)
  })
})
