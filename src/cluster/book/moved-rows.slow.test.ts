import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openBookNodes } from '../../../test/cluster/book/book-nodes.ts'
import { assertMoved } from '../../../test/cluster/book/moved-log.ts'
import { randomOutput } from '../../../test/cluster/book/random-output.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import type { Draft } from '../../protocol/draft.ts'
import { type Month, msOf } from '../../protocol/moment.ts'

const NOW = Date.UTC(2026, 5, 1)

/** A draft with details of random text, of which a segment nearly fills a row. */
function shortOutput(ref: string): Draft {
  const url = `https://daybook.test/${randomBytes(870).toString('base64url')}`
  const details = { month: '2026-05' as Month, digest: `sha256:${'0'.repeat(64)}`, recipients: 1, url }
  return { ...randomOutput(ref), details }
}

suite('a log that is moved to a table', () => {
  test('keeps a segment that no row holds, of a log that was on a table before', async () => {
    using cluster = openBookNodes({ nodes: 1, asksChain: false, balances: 'report', now: () => msOf(NOW) })
    const { queue, db } = cluster.node(0)
    for (let at = 0; at < 4_100; at += 1_025) {
      const drafts = Array.from({ length: 1_025 }, (_, index) => randomOutput(`${at + index}`))
      assert.ok((await queue().submit(drafts)).ok)
    }
    assert.ok(assertMoved(db(), TEST_KEY) > 3)
  })

  test('keeps a compressed segment that leaves little room in its row', async () => {
    using cluster = openBookNodes({ nodes: 1, asksChain: false, balances: 'report', now: () => msOf(NOW) })
    const { queue, db } = cluster.node(0)
    const send = async (from: number, to: number): Promise<void> => {
      const drafts = Array.from({ length: to - from }, (_, index) => shortOutput(`${from + index}`))
      assert.ok((await queue().submit(drafts)).ok)
    }
    for (let at = 0; at < 4_095; at += 1_365) await send(at, at + 1_365)
    await send(4_095, 4_096)
    const [size] = db().prepare('SELECT max(length(bytes)) AS bytes FROM segments').all()
    const bytes = Number(size?.['bytes'])
    assert.ok(bytes > 3.25 * 1024 * 1024 && bytes < 4 * 1024 * 1024, `${bytes} bytes`)
    assert.ok(assertMoved(db(), TEST_KEY) > 3)
  })
})
