import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import type { Service } from '../../src/command/service/service.ts'
import { startService } from '../../src/command/service/service.ts'
import { storePath } from '../../src/log/store/store.ts'
import type { Difference } from '../../src/publish/recompute.ts'
import { recompute } from '../../src/publish/recompute.ts'
import { openSharedClock } from '../../src/publish/door/shared-clock.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { fetchDescribed } from './described.ts'
import type { ModelDraft } from '../story/log-model.ts'
import { TEST_KEY } from '../story/signing.ts'

const TOKEN = 'a-token-of-tests-that-is-long-enough-0123456789'

/** A whole service in this process, on loopback, whose clock a test sets and which stops and starts again. */
export type ModelService = AsyncDisposable &
  Readonly<{
    port(): number
    nowMs(): number
    setNow(ms: number): void
    publish(drafts: readonly ModelDraft[], asLines: boolean): Promise<Response>
    get(path: string): Promise<Response>
    restart(): Promise<void>
    /** Stops it for good and says which of its tables are not what its lines say. */
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
    publish: (drafts, asLines) =>
      fetch(`http://127.0.0.1:${service().publishPort}/publish`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': asLines ? 'application/x-ndjson' : 'application/json',
        },
        body: asLines ? drafts.map((draft) => JSON.stringify(draft)).join('\n') : JSON.stringify(drafts),
      }),
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

function begin(data: string, clock: ReturnType<typeof openSharedClock>): Promise<Service> {
  const silent = new PassThrough().resume()
  return startService(
    {
      data,
      host: '127.0.0.1',
      port: 0,
      publishHost: '127.0.0.1',
      publishPort: 0,
      tokens: [TOKEN],
      newLog: { origin: 'daybook.test/model', chain: 'opaque', simulated: false },
      signing: { keys: [TEST_KEY], acceptNewKey: false, acceptLoss: false },
      verifyFirst: false,
      balances: 'refuse',
      trustProxy: '',
      workers: 1,
      rateLimit: null,
      limitStore: null,
      streamsMax: 1_000,
      drainMs: 0,
      writerClock: clock.buffer,
    },
    {
      now: clock.now,
      monotonicMs: () => performance.now(),
      random: Math.random,
      stdout: silent,
      stderr: silent,
      interactive: false,
      sharesPorts: true,
      hasFileModes: true,
      stop: new AbortController().signal,
    },
    pino({ enabled: false }),
  )
}
