import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { allocateExportPlaces, openExportPlaces } from './export-places.ts'

const memory = () => allocateExportPlaces({ perCaller: 2, perNode: 3 }, 'a secret of this test alone')

suite('the places of exports', () => {
  test('are so many for a caller and for the node, in all threads together', () => {
    const shared = memory()
    const [one, two] = [openExportPlaces(shared), openExportPlaces(shared)]
    assert.ok(one.take('a', 9_000).ok)
    assert.ok(two.take('a', 5_000).ok)
    assert.deepEqual(one.take('a', 9_000), { ok: false, full: 'caller', freeAtMs: 5_000 })
    assert.ok(two.take('b', 4_000).ok)
    assert.deepEqual(one.take('c', 9_000), { ok: false, full: 'node', freeAtMs: 4_000 })
    assert.deepEqual([one.open(), two.open()], [3, 3])
  })

  test('tell when the first export is expected to end, in whole seconds, as it was last stated', () => {
    const places = openExportPlaces(memory())
    const [first, second] = [places.take('a', 8_001), places.take('a', 7_000)]
    assert.ok(first.ok && second.ok)
    const freeAtMs = (): number | undefined => {
      const taken = places.take('a', 9_000)
      return taken.ok ? undefined : taken.freeAtMs
    }
    assert.equal(freeAtMs(), 7_000)
    second.place.expectEnd(12_000)
    assert.equal(freeAtMs(), 9_000)
    first.place.expectEnd(2_500)
    assert.equal(freeAtMs(), 3_000)
    second.place.release()
    second.place.expectEnd(1_000)
    assert.ok(places.take('a', 6_000).ok)
    assert.equal(freeAtMs(), 3_000)
    first.place.expectEnd(20_000)
    assert.equal(freeAtMs(), 6_000, 'the place that was taken again keeps its own end')
  })

  test('are free again once they are released, however often they are taken', () => {
    const places = openExportPlaces(memory())
    for (let round = 0; round < 10; round += 1) {
      const taken = ['a', 'a', 'b'].map((caller) => places.take(caller, 9_000))
      assert.ok(taken.every(({ ok }) => ok))
      assert.equal(places.open(), 3)
      for (const one of taken) {
        if (one.ok) one.place.release()
        // A second call does nothing.
        if (one.ok) one.place.release()
      }
      assert.equal(places.open(), 0)
    }
  })
})
