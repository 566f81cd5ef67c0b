import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openDirectory } from '../../test/story/store-run.ts'
import { tradeDraft } from '../../test/story/trade-draft.ts'
import type { HeldDraft } from '../log/held/held-draft.ts'
import { openForWriting, storePath } from '../log/store/store.ts'
import type { Draft } from '../protocol/draft.ts'
import { msOf } from '../protocol/moment.ts'
import { contestIdOf, seqOf } from '../protocol/seq.ts'
import { type HeldDrafts, type HeldGroup, openHeldDrafts } from './held-drafts.ts'

const AT = msOf(1_000)
const ONE = contestIdOf(1)

/** Runs the work on the held drafts of a new store. */
function withHeld(work: (held: HeldDrafts) => void): void {
  using directory = openDirectory()
  using db = openForWriting(storePath(directory.path))
  work(openHeldDrafts(db, true))
}

/** Holds a draft of contest 1, which waits for nobody's word unless it names a transaction. */
function hold(held: HeldDrafts, ref: string, more: Partial<Draft> = {}): HeldDraft {
  const draft = tradeDraft(ref, { type: 'prize', kind: 'winner', contestId: ONE, ...more })
  const kept = held.hold(draft, ref, AT)
  held.write()
  return kept
}

const inOne = (held: HeldDrafts): Iterable<HeldDraft> => held.groups().get(ONE)?.drafts.values() ?? []

/** Groups with a draft that is ready, or ready and dependent. */
function groupsWith(held: HeldDrafts, of: 'ready' | 'dependent'): readonly HeldGroup[] {
  return [...held.groups()].filter(([, group]) => group[of] > 0).map(([group]) => group)
}

suite('a held draft', () => {
  const end = { state: 'failed', settledAt: AT, place: null, reason: 'it failed' } as const
  for (const [name, leave] of [
    ['was published', (held, one) => held.published(one, seqOf(1), AT)],
    ['ended', (held, one) => held.end(one, end)],
    ['was published by another node', (held, one) => held.remove(one)],
  ] as const satisfies readonly (readonly [string, (held: HeldDrafts, one: HeldDraft) => void])[]) {
    test(`is found by its ref, number, transaction and group until it ${name}`, () =>
      withHeld((held) => {
        const tx = 'transaction-a'
        const one = hold(held, 'a', { tx })
        const seen = (): readonly unknown[] => [
          held.find('a'),
          held.numbered(one.id),
          held.naming(tx)[0],
          [...inOne(held)][0],
          [...held.all()][0],
        ]
        assert.deepEqual(seen(), Array(5).fill(one))
        assert.deepEqual([held.size(), held.groups().has(ONE)], [1, true])
        leave(held, one)
        assert.deepEqual(seen(), Array(5).fill(undefined))
        assert.deepEqual([held.size(), held.groups().has(ONE)], [0, false])
      }))
  }

  test('is ready when it waits for no word of the chain, and depends on other groups for a pool, without a contest or to restate', () => {
    for (const [more, ready, dependent] of [
      [{}, [ONE], []],
      [{ tx: 'transaction-a' }, [], []],
      [{ type: 'pool' }, [ONE], [ONE]],
      [{ type: 'pool', tx: 'transaction-a' }, [], []],
      [{ type: 'burn', contestId: null }, [null], [null]],
      [{ details: { restates: seqOf(1) } }, [ONE], [ONE]],
      [{ details: { reason: 'it rained' } }, [ONE], []],
    ] as const satisfies readonly (readonly [Partial<Draft>, readonly HeldGroup[], readonly HeldGroup[]])[]) {
      withHeld((held) => {
        const one = hold(held, 'a', more)
        assert.deepEqual([groupsWith(held, 'ready'), groupsWith(held, 'dependent')], [ready, dependent])
        held.change({ ...one, chain: 'final' })
        assert.deepEqual(groupsWith(held, 'ready'), [one.draft.contestId])
        held.remove(held.numbered(one.id) ?? one)
        assert.deepEqual([groupsWith(held, 'ready'), groupsWith(held, 'dependent')], [[], []])
      })
    }
  })
})
