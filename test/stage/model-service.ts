import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from '../../src/command/service/service.ts'
import { storePath } from '../../src/log/store/store.ts'
import { type Difference, recompute } from '../../src/publish/recompute.ts'
import { openSharedClock, type SharedClock } from '../../src/publish/writer/shared-clock.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { fetchDescribed } from './described.ts'
import type { ModelDraft } from '../story/log-model.ts'
import { postDrafts, startLocalNode } from './manual-node.ts'
import { TEST_KEY } from '../story/signing.ts'

const NEW_LOG = { origin: 'daybook.test/model', chain: 'opaque', simulated: false } as const

/** A service in this process, on free local ports. The test sets its clock and can restart it. */
export type ModelService = AsyncDisposable &
  Readonly<{
    port(): number
    nowMs(): number
    setNow(ms: number): void
    publish(drafts: readonly ModelDraft[], asLines: boolean): Promise<Response>
    get(path: string): Promise<Response>
    restart(): Promise<void>
    /** Stops the service for good. Returns the tables that differ from a recomputation of the log. */
    differences(): Promise<readonly Difference[]>
  }>

export async function openModelService(nowMs: number): Promise<ModelService> {
  const data = mkdtempSync(join(tmpdir(), 'daybook-model-'))
  const clock = openSharedClock()
  clock.set(msOf(nowMs))
  let running: Service | null = await begin(data, clock)
  const service = (): Service => {
    assert.ok(running !== null, 'the service runs')
    return running
  }
  const stop = async (): Promise<void> => {
    await running?.[Symbol.asyncDispose]()
    running = null
  }
  return {
    port: () => service().port,
    nowMs: clock.now,
    setNow: (ms) => clock.set(msOf(ms)),
    publish: (drafts, asLines) => postDrafts(service(), drafts, asLines),
    get: (path) =>
      fetchDescribed(`http://127.0.0.1:${service().port}${path}`, {
        headers: { 'accept-encoding': 'identity' },
      }),
    async restart() {
      await stop()
      running = await begin(data, clock)
    },
    async differences() {
      await stop()
      const steps = recompute(storePath(data), join(data, 'scratch.db'))
      let step = steps.next()
      while (step.done !== true) step = steps.next()
      return step.value.differences
    },
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(data, { recursive: true })
    },
  }
}

function begin(data: string, clock: SharedClock): Promise<Service> {
  return startLocalNode(data, NEW_LOG, [TEST_KEY], clock)
}
