import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Random, randomOf } from '../../sim/random.ts'
import { openAsk } from '../../src/client/ask.ts'
import type { DetailsByEvent } from '../../src/client/event-details.ts'
import { type StreamAsked, streamOf, type StreamStatus } from '../../src/client/stream.ts'
import { type Surroundings, SURROUNDINGS } from '../../src/client/surroundings.ts'
import { type HostilePeer, openHostilePeer, peerDetails } from './hostile-peer.ts'
import { servePeer } from './hostile-server.ts'
import type { EventWire } from '../../src/protocol/event.ts'
import { openVirtualClock } from '../stage/virtual-clock.ts'

/** Random steps of the peer over all runs in memory, where waits take no time. */
const STEPS = Number(process.env['CLIENT_MODEL_STEPS'] ?? 16_000)
const RUNS = 10
/** Random steps of the same peer behind a real server, with shorter waits. */
const HTTP_STEPS = 500
const HASTE = 1_000
const SEED = process.env['CLIENT_MODEL_SEED']

type CommandContext = Readonly<{ peer: HostilePeer; random: Random; around: Surroundings; base: string }>

function openWorld(seed: string): CommandContext {
  const random = randomOf(seed)
  const peer = openHostilePeer(random)
  const around = { ...openVirtualClock(), random: random.next, fetch: peer.fetch }
  return { peer, random, around, base: 'https://daybook.test' }
}

/** Follows a hostile peer for this many steps, then to the head, and compares each event with the log. */
async function follow({ peer, random, around, base }: CommandContext, steps: number): Promise<void> {
  const ask = openAsk({ base, ...around })
  const after = random.chance(0.5) ? 0 : 'head'
  const filter: StreamAsked = random.pick([{}, {}, { type: ['payout'] }, { nonzero: true }, { contestId: 2 }])
  const details: DetailsByEvent | undefined = random.chance(0.5) ? new WeakMap() : undefined
  const stop = new AbortController()
  const statuses: StreamStatus[] = []
  let last: number | undefined
  let isDone = false

  function take(events: readonly EventWire[]): void {
    for (const event of events) {
      const line = peer.lines[event.seq - 1]
      assert.equal(JSON.stringify(event), line, `seq ${event.seq} is what was published`)
      const first = after === 0 ? 1 : event.seq
      // Only filtered events were skipped.
      for (let seq = last === undefined ? first : last + 1; seq < event.seq; seq++) {
        assert.ok(!isAsked(filter, peer.lines[seq - 1]), `seq ${seq} is not lost before ${event.seq}`)
      }
      const own = details === undefined ? undefined : (peerDetails(event.seq) ?? undefined)
      assert.deepEqual(details?.get(event), own, `seq ${event.seq} has its details`)
      assert.ok(last === undefined || event.seq > last, `seq ${event.seq} comes once, after ${last}`)
      last = event.seq
    }
  }

  const onStatus = (status: StreamStatus): void => {
    statuses.push(status)
    if (peer.steps() >= steps) peer.reform()
    if (peer.steps() < steps || status.state !== 'live' || status.seq !== peer.lines.length) return
    isDone = true
    stop.abort()
  }
  const stream = streamOf(ask, around, { after, ...filter, details, onStatus, signal: stop.signal })
  try {
    for await (const events of stream) take(events)
  } catch (error) {
    if (!isDone) throw new Error(`after ${peer.steps()} steps at ${last}`, { cause: error })
  }
  assert.equal(statuses.at(-1)?.state, 'ended')
  assert.equal(statuses.at(-1)?.seq, peer.lines.length)
  for (const line of peer.lines.slice(last ?? peer.lines.length)) assert.ok(!isAsked(filter, line))
}

function isAsked({ type, nonzero, contestId }: StreamAsked, line = '{}'): boolean {
  const event = JSON.parse(line)
  if (type !== undefined && !type.includes(event.type)) return false
  if (nonzero === true && Number(event.kots) === 0) return false
  return contestId === undefined || contestId === event.contestId
}

suite('a stream of the client from a hostile peer', () => {
  const done = new Set<string>()
  for (let run = 0; run < RUNS; run++) {
    const seed = SEED ?? `${Date.now()}-${run}`
    test(`loses and repeats no event (seed ${seed})`, async () => {
      const context = openWorld(seed)
      await follow(context, STEPS / RUNS)
      for (const deed of context.peer.deeds.keys()) done.add(deed)
    })
  }

  test(`loses no event over real connections (seed ${SEED ?? 'http'})`, async () => {
    const context = openWorld(SEED ?? 'http')
    await using server = await servePeer(context.peer)
    const around = {
      ...SURROUNDINGS,
      random: Math.random,
      sleep: (ms: number, signal?: AbortSignal) => SURROUNDINGS.sleep(ms / HASTE, signal),
    }
    await follow({ ...context, around, base: server.base }, HTTP_STEPS)
  })

  test('has met every kind of fault', () => {
    assert.deepEqual([...done].toSorted(), [
      'be full',
      'cut',
      'cut a page',
      'end',
      'fail',
      'fall silent',
      'garble a page',
      'hang',
      'lag',
      'limit',
      'lose a frame',
      'portal',
      'refuse',
      'repeat',
      'restart',
      'say garbage',
      'say what nobody knows',
      'skip',
    ])
  })
})
