import type { Seq } from '../../protocol/seq.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBarrierCell } from './barrier-cell.ts'
import { BEHIND_WAIT_MS_MAX } from './head-waits.ts'

/** Milliseconds between two questions to the engine, however many readers ask. Each costs it a commit or a quorum. */
const PACE_MS = 100

/**
 * Answers the serving threads that ask for the head of the whole log. `barrier` asks the engine, and returns null after
 * a timeout.
 */
export function answerBarriers(
  memory: SharedArrayBuffer,
  { barrier }: Readonly<{ barrier(msMax: number): Promise<Seq | null> }>,
): Disposable {
  const cell = openBarrierCell(memory)
  const ended = new AbortController()
  const { signal } = ended
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await cell.asked()
      const begun = cell.begin()
      if (begun === undefined) continue
      cell.answer(begun, await barrier(BEHIND_WAIT_MS_MAX))
      await sleep(PACE_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  void run()
  return { [Symbol.dispose]: () => ended.abort() }
}
