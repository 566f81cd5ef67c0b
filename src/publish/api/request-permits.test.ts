import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openRequestPermits, type RequestPermit } from './request-permits.ts'

function given(permit: RequestPermit | null): RequestPermit {
  assert.ok(permit !== null)
  return permit
}

suite('the permits of requests', () => {
  test('are given to new ones by those whose bodies have come for longest, and never by whole ones', async () => {
    const permit = openRequestPermits(3, 100)
    const [whole, slow, late] = [given(permit()), given(permit()), given(permit())]
    assert.ok(whole.bodyRead())
    const fourth = given(permit())
    await slow.lost
    assert.equal(slow.addBytes(1), false)
    assert.equal(slow.bodyRead(), false)
    assert.ok(late.bodyRead())
    assert.ok(fourth.bodyRead())
    assert.equal(permit(), null)
    whole[Symbol.dispose]()
    given(permit())
  })

  test('have room for so many bytes: who needs more takes that of the oldest, or loses its own permit', () => {
    const permit = openRequestPermits(9, 100)
    const [kept, slow, fast] = [given(permit()), given(permit()), given(permit())]
    assert.ok(kept.addBytes(40))
    assert.ok(kept.bodyRead())
    assert.ok(slow.addBytes(50))
    assert.ok(fast.addBytes(60))
    assert.equal(slow.addBytes(1), false)
    assert.equal(fast.addBytes(1), false)
    slow[Symbol.dispose]()
    fast[Symbol.dispose]()
    const later = given(permit())
    assert.ok(later.addBytes(60))
    assert.equal(later.addBytes(1), false)
  })
})
