import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../sim/random.ts'
import { openAsk } from '../src/client/ask.ts'
import type { StreamAsked, StreamStatus } from '../src/client/stream.ts'
import { streamOf } from '../src/client/stream.ts'
import { openHostilePeer } from './hostile-peer.ts'
import { openVirtualClock } from './virtual-clock.ts'

/** Random steps of the peer, over all runs. */
const STEPS = Number(process.env['CLIENT_MODEL_STEPS'] ?? 100_000)
const RUNS = 10
const SEED = process.env['CLIENT_MODEL_SEED']

/** Follows a hostile peer for so many steps, then until everything has come, and holds each event against the log. */
async function follow(seed: string, steps: number): Promise<ReadonlyMap<string, number>> {
  const random = randomOf(seed)
  const clock = openVirtualClock()
  const peer = openHostilePeer(random)
  const around = { ...clock, random: random.next, fetch: peer.fetch }
  const ask = openAsk({ base: 'https://daybook.test', ...around })
  const after = random.chance(0.5) ? 0 : 'head'
  const filter: StreamAsked = random.pick([{}, {}, { type: ['payout'] }, { nonzero: true }, { contestId: 2 }])
  const stop = new AbortController()
  const statuses: StreamStatus[] = []
  let last: number | undefined
  let isDone = false

  function take(events: readonly { seq: number }[]): void {
    for (const event of events) {
      const line = peer.lines[event.seq - 1]
      assert.equal(JSON.stringify(event), line, `seq ${event.seq} is what was published`)
      const first = after === 0 ? 1 : event.seq
      // All that was left out is what nobody asked for.
      for (let seq = last === undefined ? first : last + 1; seq < event.seq; seq++) {
        assert.ok(!isAsked(filter, peer.lines[seq - 1]), `seq ${seq} is not lost before ${event.seq}`)
      }
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
  const stream = streamOf(ask, around, { after, ...filter, onStatus, signal: stop.signal })
  try {
    for await (const events of stream) take(events)
  } catch (error) {
    if (!isDone) throw new Error(`after ${peer.steps()} steps at ${last}`, { cause: error })
  }
  assert.equal(statuses.at(-1)?.state, 'ended')
  assert.equal(statuses.at(-1)?.seq, peer.lines.length)
  for (const line of peer.lines.slice(last ?? peer.lines.length)) assert.ok(!isAsked(filter, line))
  return peer.deeds
}

function isAsked({ type, nonzero, contestId }: StreamAsked, line = '{}'): boolean {
  const event = JSON.parse(line)
  if (type !== undefined && !type.includes(event.type)) return false
  if (nonzero === true && Number(event.kots) === 0) return false
  return contestId === undefined || contestId === event.contestId
}

suite('a stream of the client, from a peer that does everything wrong', () => {
  const done = new Set<string>()
  for (let run = 0; run < RUNS; run++) {
    const seed = SEED ?? `${Date.now()}-${run}`
    test(`loses nothing and gives nothing twice (seed ${seed})`, async () => {
      for (const deed of (await follow(seed, STEPS / RUNS)).keys()) done.add(deed)
    })
  }

  test('met every misdeed', () => {
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
