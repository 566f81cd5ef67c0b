import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { after, suite, test } from 'node:test'
import zlib from 'node:zlib'
import { msOf } from '../../../src/protocol/moment.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { assertSameTables, openBookNodes } from './book-nodes.ts'

const own = zlib.deflateRawSync

/** Segments that the other version has compressed to other bytes. */
let different = 0

/** Lets this process compress as another version of zlib does: at another level, with other bytes. */
function useLevel(level: number | null): void {
  zlib.deflateRawSync =
    level === null
      ? own
      : (raw, options) => {
          const bytes = own(raw, { ...options, level })
          if (!bytes.equals(own(raw, options))) different += 1
          return bytes
        }
  syncBuiltinESMExports()
}

/** Zlib of each node. */
const LEVELS = [null, 1] as const
const MONTHS = 4
const COMMITS = 6
const DRAFTS = 300

suite('two nodes with different versions of zlib', () => {
  // At the end of the suite: further files may share the process.
  after(() => useLevel(null))

  test('keep the same bytes of every closed month, whoever has compressed them', async () => {
    let nowMs = Date.UTC(2026, 0, 1)
    using cluster = openBookNodes({ nodes: 2, asksChain: false, balances: 'report', now: () => msOf(nowMs) })
    const all = (): void => {
      for (const [node, level] of LEVELS.entries()) {
        useLevel(level)
        cluster.follow(node)
      }
    }
    for (let month = 0; month < MONTHS; month += 1) {
      for (let commit = 0; commit < COMMITS; commit += 1) {
        nowMs = Date.UTC(2026, month, 1 + 3 * commit)
        const leader = (month + commit) % LEVELS.length
        useLevel(LEVELS[leader] ?? null)
        const refs = Array.from({ length: DRAFTS }, (_, index) => `${month} ${commit} ${index}`)
        const outcome = await cluster
          .node(leader)
          .queue()
          .submit(refs.map((ref) => tradeDraft(ref)))
        assert.ok(outcome.ok)
        await cluster.node(leader).endWriting()
        all()
      }
    }
    const [one, other] = cluster.nodes.map(({ db }) => db())
    assert.ok(one !== undefined && other !== undefined)
    assertSameTables(one, other)
    assert.ok(different >= MONTHS / 2, `${different} segments differ`)
  })
})
