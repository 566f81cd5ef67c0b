import assert from 'node:assert/strict'
import type { openCommitQueue } from '../../src/publish/commit-queue.ts'

type QuietSettings = Omit<
  Parameters<typeof openCommitQueue>[0],
  'appender' | 'held' | 'path' | 'balances' | 'now'
>

/** Settings of a queue that tells nothing, has room on its disk and a clock that agrees, and must not break. */
export const QUIET_QUEUE: QuietSettings = {
  refusal: () => null,
  monotonicMs: () => 0,
  onDurable: () => undefined,
  onCommit: () => undefined,
  onHeld: () => undefined,
  onIrregular: () => undefined,
  isDiskFull: () => false,
  onFull: () => undefined,
  onBroken: (error) => assert.fail(error),
}
