import type { Writer } from '../../publish/door/writer.ts'
import { BEHIND_WAIT_MS_MAX } from '../../serve/following/following-limits.ts'
import { openBarrierCell } from '../../serve/following/barrier-cell.ts'

/** Answers the serving threads that ask for the head of the whole log. */
export function answerBarriers(memory: SharedArrayBuffer, { barrier }: Pick<Writer, 'barrier'>): Disposable {
  const cell = openBarrierCell(memory)
  const ended = new AbortController()
  async function run(): Promise<void> {
    while (!ended.signal.aborted) {
      await cell.asked()
      const begun = cell.begin()
      if (begun !== undefined) cell.answer(begun, await barrier(BEHIND_WAIT_MS_MAX))
    }
  }
  void run()
  return { [Symbol.dispose]: () => ended.abort() }
}
