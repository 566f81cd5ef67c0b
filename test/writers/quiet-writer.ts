import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogStoreSettings } from '../../src/publish/cluster/log-store-settings.ts'
import type { SharedLog } from '../../src/publish/cluster/shared-log.ts'
import { openSharedLog } from '../../src/publish/cluster/shared-log.ts'
import { openCommitQueue } from '../../src/publish/commits/commit-queue.ts'
import type { Outcome } from '../../src/publish/admission/outcome.ts'
import type { ReplicaNotice } from '../../src/publish/replica/replica-notice.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { QUIET_QUEUE } from '../messages/quiet-queue.ts'
import { tradeDraft } from '../story/trade-draft.ts'
import { TEST_KEY } from '../story/signing.ts'

const JOIN_MS_MAX = 60_000

/** A writer of a log on an engine without listeners: its store, its replica and its queue of commits. */
export type QuietWriter = AsyncDisposable &
  Readonly<{
    data: string
    shared: SharedLog
    notices: readonly ReplicaNotice[]
    publish(ref: string): Promise<Outcome>
  }>

export async function openQuietWriter(folder: string, logStore: LogStoreSettings): Promise<QuietWriter> {
  const data = join(folder, logStore.nodeName)
  mkdirSync(data, { recursive: true })
  const notices: ReplicaNotice[] = []
  const refusals: string[] = []
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort(new Error(`not joined: ${refusals.at(-1)}`)), JOIN_MS_MAX)
  const shared = await openSharedLog({
    ...QUIET_QUEUE,
    dataDirectory: data,
    logStore,
    keys: [TEST_KEY],
    asksChain: false,
    rules: '',
    program: '0.0.0',
    run: String(performance.now()),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    signal: stop.signal,
    accepts: () => true,
    onNotice: (notice) => void notices.push(notice),
    onRefused: (reason) => void refusals.push(reason),
  })
  clearTimeout(late)
  const { book, path } = shared
  const queue = openCommitQueue({
    ...QUIET_QUEUE,
    path,
    appender: book.appender,
    tables: book.tables,
    held: book.held,
    asksChain: false,
    balances: 'report',
    now: () => msOf(Date.now()),
  })
  shared.start({ queue, onHead: () => undefined, onOtherLog: (reason) => assert.fail(reason) })
  return {
    data,
    shared,
    notices,
    publish: (ref) => queue.submit([tradeDraft(ref)]),
    async [Symbol.asyncDispose]() {
      if (stop.signal.aborted) return
      stop.abort()
      await shared[Symbol.asyncDispose]()
      shared.db.close()
    },
  }
}
