import assert from 'node:assert/strict'
import type { PlatformDesk } from './platform-desk.ts'
import type { PrivateApi } from './private-api.ts'
import { assertInOrder, placeOf, type StoredDrafts } from './stored-drafts.ts'

/** Compares the store of a service that has ended with what was known before. */
type KeptDrafts = Readonly<{
  /** Asserts that a service that has just started lists what was stored, in the same order. */
  assertListed(api: PrivateApi, before?: StoredDrafts): Promise<void>
  /** Asserts that a store has everything that was acknowledged, and each unanswered request whole or not at all. */
  assertStored(next: StoredDrafts): void
  /** `kept`: unanswered requests that were stored. */
  counts: Readonly<{ heldOverKills: number; unknownAtKills: number; kept: number }>
}>

export function openKeptDrafts(desk: PlatformDesk): KeptDrafts {
  const counts = { heldOverKills: 0, unknownAtKills: 0, kept: 0 }
  let stored: StoredDrafts = { published: new Map(), held: new Map(), settled: new Map() }

  function assertRequestsWhole(next: StoredDrafts): void {
    for (const request of desk.unknown()) {
      const places = request.map(({ ref }) => placeOf(next, ref) !== undefined)
      assert.equal(new Set(places).size, 1, 'a request is accepted whole or not at all')
      counts.unknownAtKills += 1
      if (places[0] === true) counts.kept += 1
    }
  }

  return {
    counts,
    async assertListed(api, before = stored) {
      const rows = await api.held()
      const ids = rows.map(({ id }) => id)
      const inOrder = ids.toSorted((a, b) => a - b)
      assert.deepEqual(ids, inOrder, 'held drafts are listed in order of acceptance')
      for (const { ref, id } of rows) assert.equal(before.held.get(ref), id, `${ref} keeps its place`)
      counts.heldOverKills += before.held.size
    },
    assertStored(next) {
      assertInOrder(next.held.keys(), desk.accepted.keys())
      for (const [ref, id] of stored.held)
        assert.equal(next.held.get(ref) ?? id, id, `${ref} keeps its place`)
      for (const [ref, seq] of stored.published)
        assert.equal(next.published.get(ref), seq, `${ref} keeps its seq`)
      for (const [ref, state] of stored.settled) assert.equal(next.settled.get(ref), state, ref)
      for (const [ref, { status, seq }] of desk.known) {
        const place = placeOf(next, ref)
        assert.ok(place !== undefined, `${ref} was acknowledged as ${status} and is lost`)
        if (status !== 'held') assert.equal(place, status === 'duplicate' ? 'published' : status, ref)
        if (seq !== undefined) assert.equal(next.published.get(ref), seq, ref)
      }
      assertRequestsWhole(next)
      stored = next
    },
  }
}
