import assert from 'node:assert/strict'
import { randomOf } from '../../sim/random.ts'
import { type Daybook, openDaybook } from '../../src/client/daybook.ts'
import { SURROUNDINGS } from '../../src/client/surroundings.ts'
import { fetchDescribed } from './described.ts'
import { type LogModel, openLogModel } from '../story/log-model.ts'
import type { ModelService } from './model-service.ts'

export const LAUNCH_MS: number = Date.UTC(2026, 4, 1, 12)
/** Factor by which waits are shorter, so that a restart takes no seconds. */
const SPEEDUP = 20

export type ClientStage = Readonly<{
  service: ModelService
  model: LogModel
  daybook: Daybook
  publish: (count: number, laterMs?: number) => Promise<void>
  /** Number of streams that are open or opening. */
  streams: () => number
}>

/** Opens a client of a service in this process. `model` is that of its log, which is empty by default. */
export async function openStage(
  service: ModelService,
  { haste = SPEEDUP, model = openLogModel() }: Readonly<{ haste?: number; model?: LogModel }> = {},
): Promise<ClientStage> {
  const random = randomOf('client')
  let streams = 0
  return {
    service,
    model,
    streams: () => streams,
    daybook: openDaybook({
      base: 'http://daybook.test',
      // The port changes when the service restarts.
      async fetch(url, init) {
        if (url.includes('/stream')) {
          streams += 1
          init.signal?.addEventListener('abort', () => (streams -= 1), { once: true })
        }
        return fetchDescribed(url.replace('http://daybook.test', `http://127.0.0.1:${service.port()}`), init)
      },
      sleep: (ms, signal) => SURROUNDINGS.sleep(ms / haste, signal),
    }),
    async publish(count, laterMs = 1_000) {
      service.setNow(service.nowMs() + laterMs)
      const drafts = model.drafts(random, count)
      assert.equal((await service.publish(drafts, false)).status, 200)
      model.publish(drafts, service.nowMs())
    },
  }
}

export const linesOf = (events: readonly object[]): string[] => events.map((event) => JSON.stringify(event))
