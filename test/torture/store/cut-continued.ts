import assert from 'node:assert/strict'
import { join } from 'node:path'
import { readIdentity } from '../../../src/log/store/store.ts'
import type { SigningKey } from '../../../src/log/tree/signer.ts'
import { msOf } from '../../../src/protocol/moment.ts'
import { openCommitQueue } from '../../../src/publish/commit-queue.ts'
import { openOwnLog } from '../../../src/publish/door/writer-log.ts'
import { runCheck } from '../../story/damaged-log.ts'
import { tradeDraft } from '../../story/trade-draft.ts'
import { startNode } from '../../stage/node-process.ts'
import { DATA } from './cut-check.ts'
import type { StartAgain } from './recorded-log.ts'

/** Starts the service itself after a power cut, publishes a draft twice, and stops it. */
export async function serveAfter(folder: string, { keyFiles }: StartAgain): Promise<void> {
  const files = keyFiles?.map((file) => join(folder, file)).join(',')
  const keys = files === undefined ? [] : ['--signing-key-file', files]
  const node = await startNode(join(folder, DATA), ['--chain', 'solana', '--balances', 'report', ...keys])
  const draft = { ref: 'to-the-service-after-the-cut', type: 'trade', kind: 'buy', kots: '1' }
  const [first, again] = [await node.publish([draft]), await node.publish([draft])]
  assert.deepEqual([first.drafts[0]?.status, again.drafts[0]?.status], ['published', 'duplicate'])
  assert.equal(first.drafts[0]?.seq, again.drafts[0]?.seq)
  assert.equal((await node.end('SIGTERM')).code, 0, node.stderr())
}

/** Publishes on a node after a power cut, twice the same, and recomputes its store as `daybook check` does. */
export async function continueAfter(folder: string, keys: readonly SigningKey[]): Promise<void> {
  const data = join(folder, DATA)
  const { db, appender, tables } = openOwnLog({ dataDirectory: data, keys })
  try {
    assert.notEqual(readIdentity(db).id, '')
    const before = appender.head().seq
    const queue = openCommitQueue({
      appender,
      tables,
      asksChain: false,
      balances: 'report',
      now: () => msOf(Date.now()),
      refusal: () => null,
      monotonicMs: () => performance.now(),
      onDurable: () => undefined,
      onCommit: () => undefined,
      onHeld: () => undefined,
      onIrregular: () => undefined,
      isDiskFull: () => false,
      onFull: () => assert.fail('the disk is full'),
      onBroken: (error) => assert.fail(error),
    })
    for (const status of ['published', 'duplicate'] as const) {
      const outcome = await queue.submit([tradeDraft('after-the-power-cut')])
      assert.ok(outcome.ok)
      assert.deepEqual(
        outcome.receipts.map((receipt) => [receipt.status, Reflect.get(receipt, 'seq')]),
        [[status, before + 1]],
      )
    }
    await queue.close()
  } finally {
    db.close()
  }
  const { code, said } = await runCheck(data, keys)
  assert.equal(code, 0, said)
}
