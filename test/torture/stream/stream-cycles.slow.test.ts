import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { randomOf } from '../../../sim/random.ts'
import { STREAMS_PER_CALLER } from '../../../src/serve/allowance/caller-slots.ts'
import { until } from '../../stage/stream-client.ts'
import { openCampaign } from '../campaign.ts'
import { callerAddress, CYCLE_ENDS, CYCLE_LANES, type CycleOrder, type CycleReport } from './cycle-thread.ts'
import { type Held, heldNow } from './held-now.ts'
import { openStreamFrom } from './open-stream-from.ts'
import { openTortureNode, type TortureNode } from './torture-node.ts'

const CAMPAIGN = openCampaign('stream-cycles')
const LAUNCH_MS = Date.UTC(2026, 4, 20)
/** Streams of the node. A few slots that are not released would soon refuse every stream. */
const STREAMS_MAX = 4 * CYCLE_LANES
/** Cycles before the first measurement: they load code and fill caches. */
const WARM_UP = 300
/** Cycles between two measurements. */
const ROUND = 5_000
const CALLERS_MAX = 20_000
const HANDLES_MORE = 5
/** Files of the store that threads open with their first question. */
const FILES_OPENED_LATER = 24
/** Growth of the heap that is noise, and bytes of each cycle that would be a leak. */
const HEAP_NOISE_BYTES = 3_000_000
const HEAP_BYTES_PER_CYCLE = 40
const SETTLE_MS_MAX = 30_000

/** Waits until no stream is open, and what is held is no more than before. Returns what is held then. */
async function settled(service: TortureNode, before: Held | null, cycles: number): Promise<Held> {
  const limit = performance.now() + SETTLE_MS_MAX
  for (;;) {
    const streams = await service.metric('daybook_stream_clients')
    const now = heldNow()
    const isBack =
      before === null ||
      (now.sockets <= before.sockets + HANDLES_MORE &&
        now.handles <= before.handles + FILES_OPENED_LATER &&
        now.resources <= before.resources + HANDLES_MORE &&
        now.timers <= before.timers + HANDLES_MORE &&
        now.heapBytes <= before.heapBytes + HEAP_NOISE_BYTES + cycles * HEAP_BYTES_PER_CYCLE)
    if (streams === 0 && isBack) return now
    assert.ok(performance.now() < limit, JSON.stringify({ streams, before, now, cycles }))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Asserts that the counts by address and of the node begin at 0: exactly as many streams open as may. */
async function assertNoneCounted(service: TortureNode): Promise<number> {
  using streams = new DisposableStack()
  const statusFrom = async (caller: number): Promise<number> =>
    streams.use(await openStreamFrom(service.port, callerAddress(caller))).status
  const one = Array.from({ length: STREAMS_PER_CALLER }, () => 0)
  const others = Array.from({ length: STREAMS_MAX - STREAMS_PER_CALLER }, (_, index) => index + 1)
  for (const caller of one) assert.equal(await statusFrom(caller), 200, 'each slot of a caller is free')
  assert.equal(await statusFrom(0), 429, 'no more than the slots of a caller')
  for (const caller of others) assert.equal(await statusFrom(caller), 200, 'each slot of the node is free')
  assert.equal(await statusFrom(STREAMS_MAX), 503, 'no more than the slots of the node')
  return one.length + others.length
}

suite(`streams opened and left ${CAMPAIGN.size} times`, () => {
  test(
    'leave no handle, timer, memory or count behind',
    { timeout: 120_000 + CAMPAIGN.size * 100 },
    async (t) => {
      const random = randomOf(`${CAMPAIGN.seed} drafts`)
      await using service = await openTortureNode(random, LAUNCH_MS, { streamsMax: STREAMS_MAX })
      const worker = new Worker(join(import.meta.dirname, 'cycle-thread.ts'), { workerData: CAMPAIGN.seed })
      const cycle = async (first: number, cycles: number): Promise<CycleReport> => {
        const order: CycleOrder = { port: service.port, first, cycles, callers: CALLERS_MAX }
        worker.postMessage(order)
        const state = { isOver: false }
        const reported = once(worker, 'message').then(([report]) => {
          state.isOver = true
          return report as CycleReport
        })
        // Events go out to connections that are just ending.
        while (!state.isOver) {
          await service.publish(random.between(1, 9))
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        return await reported
      }
      try {
        await service.publish(3_000)
        await cycle(0, WARM_UP)
        const before = await settled(service, null, 0)
        const figures: Record<string, number> = { cycles: CAMPAIGN.size, streams: 0, refused: 0 }
        let now = before
        for (let done = 0; done < CAMPAIGN.size; done += ROUND) {
          const cycles = Math.min(ROUND, CAMPAIGN.size - done)
          const report = await cycle(WARM_UP + done, cycles)
          assert.deepEqual([report.late, report.refused], [0, 0], 'none waits, none is refused')
          for (const end of CYCLE_ENDS) figures[end] = (figures[end] ?? 0) + report.ends[end]
          figures['streams'] = (figures['streams'] ?? 0) + report.streams
          now = await settled(service, before, done + cycles)
          t.diagnostic(`${done + cycles} cycles: ${JSON.stringify(now)}`)
        }
        const opened = await service.metric('daybook_stream_opened_total')
        assert.equal(await service.metric('daybook_stream_closed_total'), opened, 'each stream ended once')
        const counted = await assertNoneCounted(service)
        await until(async () => (await service.metric('daybook_stream_clients')) === 0)
        await service.assertWhole()
        const each = Math.floor(CAMPAIGN.size / CYCLE_ENDS.length)
        const floors = {
          ...Object.fromEntries(CYCLE_ENDS.map((end) => [end, each])),
          streams: each * (CYCLE_ENDS.length - 1),
          counted: STREAMS_MAX,
        }
        const more = {
          sockets: now.sockets - before.sockets,
          handles: now.handles - before.handles,
          heapBytes: now.heapBytes - before.heapBytes,
        }
        CAMPAIGN.finish(t, { ...figures, counted, ...more }, floors)
      } finally {
        await worker.terminate()
      }
    },
  )
})
