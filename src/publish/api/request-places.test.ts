import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openRequestPlaces, type RequestPlace, type RequestPlaces } from './request-places.ts'

function entered(room: RequestPlaces): RequestPlace {
  const place = room.enter()
  assert.ok(place !== null)
  return place
}

suite('the places of requests', () => {
  test('are given to new ones by those whose bodies have come for longest, and never by whole ones', async () => {
    const room = openRequestPlaces(3, 100)
    const [whole, slow, late] = [entered(room), entered(room), entered(room)]
    assert.ok(whole.keep())
    const fourth = entered(room)
    await slow.lost
    assert.equal(slow.take(1), false)
    assert.equal(slow.keep(), false)
    assert.ok(late.keep())
    assert.ok(fourth.keep())
    assert.equal(room.enter(), null)
    whole[Symbol.dispose]()
    entered(room)
  })

  test('have room for so many bytes: who needs more takes that of the oldest, or loses its own place', () => {
    const room = openRequestPlaces(9, 100)
    const [kept, slow, fast] = [entered(room), entered(room), entered(room)]
    assert.ok(kept.take(40))
    assert.ok(kept.keep())
    assert.ok(slow.take(50))
    assert.ok(fast.take(60))
    assert.equal(slow.take(1), false)
    assert.equal(fast.take(1), false)
    slow[Symbol.dispose]()
    fast[Symbol.dispose]()
    const later = entered(room)
    assert.ok(later.take(60))
    assert.equal(later.take(1), false)
  })
})
