import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openCluster } from '../../../test/messages/book-cluster.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { markHighWater } from '../../log/store/high-water.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { clearPosition } from '../../log/stream/engine-position.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import { msOf } from '../../protocol/moment.ts'
import { startAudits } from './background-audit.ts'

/** Result of the first audit of a store that ends before its high-water mark. */
async function auditBehind(isOnEngine: boolean): Promise<string> {
  using cluster = openCluster({ nodes: 2, asksChain: false, balances: 'report', now: () => msOf(0) })
  const [ahead, behind] = [cluster.node(0), cluster.node(1)]
  for (const ref of ['a', 'b']) {
    await ahead.queue().submit([tradeDraft(ref)])
  }
  await ahead.endWriting()
  cluster.follow(1, 1)
  const data = mkdtempSync(join(tmpdir(), 'daybook-audit-'))
  try {
    behind.db().prepare('VACUUM INTO ?').run(storePath(data))
    if (!isOnEngine) {
      const db = openForWriting(storePath(data))
      clearPosition(db)
      db.close()
    }
    markHighWater(data, newestCheckpoint(ahead.db()))
    const { promise, resolve } = Promise.withResolvers<string>()
    const listener = { audited: ({ done }: { done: boolean }) => (done ? resolve('right') : undefined) }
    await using _audits = startAudits(data, { pauseMs: 1, repeatMs: 1_000 }, [listener], resolve)
    return await promise
  } finally {
    rmSync(data, { recursive: true })
  }
}

suite('the audit of a log that ends before its high-water mark', () => {
  test('finds a fault, unless the log is on an engine that has the rest', async () => {
    assert.match(await auditBehind(false), /the log ends at seq 1 but was published up to seq 2/)
    assert.equal(await auditBehind(true), 'right')
  })
})
