import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { randomOf } from '../../../sim/random.ts'
import { STREAMS_PER_CALLER } from '../../../src/serve/allowance/caller-slots.ts'
import { readLines } from '../../stage/node-process.ts'
import { until } from '../../stage/stream-client.ts'
import { skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../campaign.ts'
import { heldNow } from './held-now.ts'
import { openStreamFrom } from './open-stream-from.ts'
import { streamFaultsOf } from '../history/history-checker.ts'
import { openHoppingSubscribers } from '../history/hopping-subscribers.ts'
import { openTortureNode, type TortureNode } from './torture-node.ts'
import { connectionsTo, openTroubledReaders, type SlowVisit, type TroubledGroup } from './troubled-readers.ts'

const CAMPAIGN = openCampaign('stream-storm')
const LAUNCH_MS = Date.UTC(2026, 4, 20)
const HISTORY_EVENTS = 3_000
/** Limits of the specification, each some hundred times shorter. */
const LIMITS = {
  lifetimeMs: 8_000,
  stallMs: 1_500,
  heartbeatMs: 500,
  tickMs: 50,
  retryMsMin: 100,
  retryMsMax: 1_000,
}
/** Longest time that a dead link is kept: its lifetime with its spread, or the stall, and the last frame. */
const FREED_MS_MAX = LIMITS.lifetimeMs * 1.2 + LIMITS.stallMs + 15_000
type StormKind = Exclude<TroubledGroup['kind'], 'backfill'>

/** Subscribers with troubles, of each sixty. */
const TROUBLES: Readonly<Record<StormKind, number>> = { slow: 5, silent: 10, dead: 10, stalled: 10 }
const NETWORKS: Readonly<Record<StormKind, string>> = {
  slow: '127.66.',
  silent: '127.67.',
  dead: '127.68.',
  stalled: '127.69.',
}
/** Memory of one subscriber at most. */
const SUBSCRIBER_BYTES_MAX = 100_000
const HEAP_NOISE_BYTES = 8_000_000
const ASKED_CALM = 150
const PUBLISH_EVERY_MS = 20
/** Healthy subscribers leave no stream by themselves. */
const NEVER_MS = 10_000_000
const REACHED_MS_MAX = 60_000
/** Pause between two looks at the kernel's connections, which it lists slowly. */
const LOOK_MS = 50

function groupsOf(sixties: number): readonly TroubledGroup[] {
  return Object.entries(TROUBLES).flatMap(([kind, count]) =>
    Array.from({ length: sixties }, (_, index): TroubledGroup => {
      const address = `${NETWORKS[kind as StormKind]}${index >> 8}.${(index & 255) + 1}`
      return { kind: kind as StormKind, address, count }
    }),
  )
}

/** 99th percentile of the milliseconds of `/summary`, asked one after another `times` or until it settles. */
async function p99Of(node: TortureNode, times: number | Promise<unknown>): Promise<number> {
  const state = { isOver: false }
  if (typeof times !== 'number') void times.then(() => (state.isOver = true))
  const took: number[] = []
  while (typeof times === 'number' ? took.length < times : !state.isOver) {
    const begun = performance.now()
    const answer = await fetch(`${node.url}/api/v1/summary`)
    assert.equal(answer.status, 200)
    await answer.arrayBuffer()
    took.push(performance.now() - begun)
  }
  return took.toSorted((a, b) => a - b)[Math.ceil(took.length * 0.99) - 1] ?? 0
}

/** Publishes until something settles. */
async function publishUntil(node: TortureNode, over: Promise<unknown>): Promise<void> {
  const state = { isOver: false }
  void over.then(
    () => (state.isOver = true),
    () => (state.isOver = true),
  )
  while (!state.isOver) {
    await node.publish(3)
    await wait(PUBLISH_EVERY_MS)
  }
  await over
}

/** Asserts that the visits of a slow reader are the log from its beginning, each from where the one before ended. */
function assertSlow(visits: readonly SlowVisit[], lines: readonly string[]): number {
  let seq = 0
  for (const { after, lines: heard } of visits) {
    assert.equal(after, seq, 'it resumed where it was')
    for (const line of heard.filter((one) => one.startsWith('{"seq":'))) {
      seq += 1
      assert.equal(line, lines[seq - 1], `event ${seq} of a slow reader`)
    }
  }
  return visits.length
}

suite(`a storm of ${CAMPAIGN.size} subscribers`, () => {
  test(
    'is over when all are back, none missed an event, and dead links are freed',
    { skip: skipWithout('python3'), timeout: 180_000 + CAMPAIGN.size * 500 },
    async (t) => {
      const sixties = Math.max(1, Math.round(CAMPAIGN.size / 60))
      const groups = groupsOf(sixties)
      const of = (kind: StormKind): number => TROUBLES[kind] * sixties
      const healthy = CAMPAIGN.size - groups.reduce((sum, { count }) => sum + count, 0)
      const random = randomOf(`${CAMPAIGN.seed} drafts`)
      const settings = { streamLimits: LIMITS, trustProxy: '127.0.0.1/32', streamsMax: 4 * CAMPAIGN.size }
      await using node = await openTortureNode(random, LAUNCH_MS, settings)
      await node.publish(HISTORY_EVENTS)
      const calm = await p99Of(node, ASKED_CALM)
      const before = heldNow()
      await using crowd = openHoppingSubscribers({
        seed: CAMPAIGN.seed,
        subscribers: healthy,
        hopMs: NEVER_MS,
      })
      const reach = async (seq: number): Promise<void> =>
        assert.equal(await crowd.lacking(seq, REACHED_MS_MAX), 0, `all have ${seq}`)
      crowd.nodes([['node', node.url]])
      await reach(node.head())
      await using troubled = await openTroubledReaders(node.port, groups)
      const connected = heldNow()
      const bytesEach = (connected.heapBytes - before.heapBytes) / CAMPAIGN.size
      assert.ok(
        connected.heapBytes <= before.heapBytes + HEAP_NOISE_BYTES + CAMPAIGN.size * SUBSCRIBER_BYTES_MAX,
        `${Math.round(bytesEach)} bytes for each subscriber`,
      )

      // Links die: their kernel acknowledges nothing from now on, and nobody closes them.
      const dead = await troubled.cutLinks()
      assert.equal(dead, of('dead') + of('stalled'))
      const deadAddress = `${NETWORKS.dead}0.1`
      assert.equal(
        await statusFrom(node, deadAddress),
        429,
        'dead links still hold the streams of their address',
      )
      await publishUntil(node, allUnacknowledged(node, of('dead')))

      const dropped = await crowd.cut(1)
      const back = node.publish(1).then(reach)
      const [storm] = await Promise.all([p99Of(node, back), publishUntil(node, back)])
      const peak = process.memoryUsage().rss

      // Without a packet from their clients, the service ends them by itself.
      const left = (kind: StormKind): number => connectionsTo(node.port, NETWORKS[kind]).open
      const freed = until(async () => {
        await wait(LOOK_MS)
        return left('dead') + left('stalled') + left('silent') === 0
      }, FREED_MS_MAX)
      await publishUntil(node, freed)
      for (const kind of ['dead', 'stalled', 'silent'] as const)
        for (let slot = 0; slot < STREAMS_PER_CALLER; slot += 1)
          assert.equal(
            await statusFrom(node, `${NETWORKS[kind]}0.1`),
            200,
            `an address of ${kind} ones is free`,
          )

      await reach(node.head())
      const { visits, firstLines, discords, counts } = await crowd.end()
      const log = await readLines(node.url, 0)
      const seen = { visits, firstLines: new Map(firstLines), discords, entries: log }
      assert.deepEqual(streamFaultsOf(seen), [], `seed ${CAMPAIGN.seed}`)
      assert.equal(counts.unavailable, 0)
      const slow = await troubled.end()
      const slowVisits = slow.reduce((sum, one) => sum + assertSlow(one, log), 0)
      await until(async () => (await node.metric('daybook_stream_clients')) === 0)
      const opened = await node.metric('daybook_stream_opened_total')
      assert.equal(await node.metric('daybook_stream_closed_total'), opened, 'each stream ended once')
      const [lifetime, stalled] = [await endedBy(node, 'lifetime'), await endedBy(node, 'slow')]
      await node.assertWhole()
      const figures = {
        subscribers: CAMPAIGN.size,
        dropped,
        dead,
        events: node.head(),
        ...counts,
        slowVisits,
        lifetime,
        stalled,
        bytesEach: Math.round(bytesEach),
        rssMiB: Math.round(peak / 2 ** 20),
        calmP99Ms: Math.round(calm * 10) / 10,
        stormP99Ms: Math.round(storm * 10) / 10,
        ratio: Math.round((storm / calm) * 10) / 10,
      }
      CAMPAIGN.finish(t, figures, {
        dropped: Math.floor(healthy * 0.9),
        dead: of('dead') + of('stalled'),
        hops: healthy * 2,
        deliveries: healthy * 20,
        slowVisits: of('slow') * 2,
        lifetime: of('dead'),
        stalled: of('stalled') + of('silent'),
      })
    },
  )
})

/** Status of one more stream from an address, which is closed again. */
async function statusFrom(node: TortureNode, from: string): Promise<number> {
  using stream = await openStreamFrom(node.port, from)
  return stream.status
}

const endedBy = (node: TortureNode, reason: 'lifetime' | 'slow'): Promise<number> =>
  node.metric(`daybook_stream_closed_total{reason="${reason}"}`)

/** Waits until the kernel has bytes for every dead link that nobody acknowledges. */
async function allUnacknowledged(node: TortureNode, links: number): Promise<void> {
  await until(async () => {
    await wait(LOOK_MS)
    return connectionsTo(node.port, NETWORKS.dead).unacknowledged === links
  })
}
