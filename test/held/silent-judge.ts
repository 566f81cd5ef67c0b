import { once } from 'node:events'
import type { Judge } from '../../src/command/plug/option.ts'
import type { OpenTxJudge } from '../../src/publish/tx-judge.ts'

/** A judge of transactions that gets no answers, so that each draft with a transaction stays held. */
export const SILENT_JUDGE: Judge = {
  module: import.meta.url,
  settings: {},
  reportReader: () => () => undefined,
}

export const openTxJudge: OpenTxJudge = async (_settings, { signal }) => ({
  async run() {
    if (!signal.aborted) await once(signal, 'abort')
  },
  lastMessages: () => null,
})
