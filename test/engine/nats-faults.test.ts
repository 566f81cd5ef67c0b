import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Appended, EngineConnection, LogEngine } from '../../src/engine/log-engine.ts'
import { ATTEMPT_MS_MAX, EngineError, MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'
import { skipUnless } from '../stage/test-needs.ts'
import { NATS_NEEDED, NATS_SERVER } from './nats-program.ts'
import { startNatsRig } from './nats-rig.ts'
import { until } from '../processes/other-program.ts'
import { readAll } from './settled-append.ts'

const STREAM = 1
/** The writer that knows all brokers. */
const ROVER = 'rover'
/** Writers of large messages. Each connects with the leader or with another broker, as it happens. */
const HEAVY_WRITERS = 5
/** Longest time without an acknowledged append, once a majority is connected. */
const SILENCE_MS_MAX = 20_000

/** Messages that the clients of a stream have seen. */
type Seen = {
  /** Attempts, each with bytes of its own. */
  readonly attempts: { place: number; text: string; answer: Appended }[]
  /** Newest place that an answer or a read has shown. */
  shown: number
  acknowledged: number
  barriers: number
  refusedBarriers: number
  /** Writers that offer nothing now. A message that a leader proposes in vain would hide that it was deposed. */
  quiet: readonly string[]
}

/** Appends at the place after the newest one that it knows, with other bytes at each attempt. */
async function write(log: LogEngine, name: string, seen: Seen, signal: AbortSignal): Promise<void> {
  let known = 0
  for (let count = 1; !signal.aborted; count += 1) {
    if (seen.quiet.includes(name)) {
      await sleep(10)
      continue
    }
    const text = `${name} ${count}`
    const place = known + 1
    const answer = await log.append(place, new TextEncoder().encode(text))
    seen.attempts.push({ place, text, answer })
    if (answer === 'appended') {
      seen.acknowledged += 1
      seen.shown = Math.max(seen.shown, place)
      known = place
      // Whoever has won a place knows the next one first: the others get a turn.
      await sleep(20)
    } else {
      known = await log.last().catch(() => known)
      await sleep(5)
    }
  }
}

/** Asks for the end again and again: no answer may be behind what anyone has seen before the question. */
async function watchEnd(log: LogEngine, seen: Seen, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const before = seen.shown
    try {
      const end = await log.last()
      assert.ok(end >= before, `last() says ${end}, but place ${before} was acknowledged before`)
      seen.shown = Math.max(seen.shown, end)
      seen.barriers += 1
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      seen.refusedBarriers += 1
    }
    await sleep(20)
  }
}

/** Appends large messages while the leader is paused. Then every writer must find a broker that answers. */
async function leavePaused(writers: readonly EngineConnection[], seen: Seen): Promise<void> {
  await Promise.all(
    writers.map(async ({ log }, at) => {
      const place = seen.shown + 1
      const text = `heavy-${at} `.padEnd(MESSAGE_BYTES_MAX, '.')
      const answer = await log.append(place, new TextEncoder().encode(text))
      seen.attempts.push({ place, text, answer })
    }),
  )
  await until(
    'the writers of large messages have left the paused broker',
    () => Promise.all(writers.map(({ log }) => log.last())).then(() => true),
    SILENCE_MS_MAX,
  )
}

function acknowledgedBy({ attempts }: Seen, name: string): number {
  return attempts.filter(({ text, answer }) => answer === 'appended' && text.startsWith(`${name} `)).length
}

suite(
  'NATS under faults',
  { skip: skipUnless(NATS_SERVER !== undefined, NATS_NEEDED), timeout: 300_000 },
  () => {
    test('has a true end and true answers while its leader is parted, paused and killed', async (t) => {
      await using rig = await startNatsRig()
      await rig.make(STREAM)
      // Each client stays with one broker, so that some ask a leader that was deposed.
      const connections = await Promise.all([
        ...rig.brokers.map((broker) => rig.open(STREAM, [broker])),
        rig.open(STREAM),
      ])
      await using stack = new AsyncDisposableStack()
      for (const connection of connections) stack.use(connection)
      const changes: string[] = []
      for (const { onChange } of connections) onChange((what) => void changes.push(what))
      const seen: Seen = {
        attempts: [],
        shown: 0,
        acknowledged: 0,
        barriers: 0,
        refusedBarriers: 0,
        quiet: [],
      }
      const stop = new AbortController()
      stack.defer(() => stop.abort())
      const clients = Promise.all(
        connections.flatMap(({ log }, at) => [
          write(log, rig.brokers[at]?.name ?? ROVER, seen, stop.signal),
          watchEnd(log, seen, stop.signal),
        ]),
      )
      // A failed client ends the run.
      const failed = clients.then(() => undefined)
      const goesOn = async (): Promise<number> => {
        const [startMs, before] = [performance.now(), seen.acknowledged]
        const roved = acknowledgedBy(seen, ROVER)
        await Promise.race([
          until(
            'appends go on',
            async () => seen.acknowledged > before + 5 && acknowledgedBy(seen, ROVER) > roved,
            SILENCE_MS_MAX,
          ),
          failed.then(() => assert.fail('the clients have ended')),
        ])
        return Math.round(performance.now() - startMs)
      }
      await goesOn()
      let stale = 0
      for (const fault of ['part', 'pause', 'kill'] as const) {
        const { leader, others } = await rig.leaderOf(STREAM)
        const admin = await rig.admin([leader])
        await using rest = new AsyncDisposableStack()
        const heavy = await Promise.all(
          Array.from({ length: fault === 'pause' ? HEAVY_WRITERS : 0 }, () =>
            rig.open(STREAM, [leader, ...others.slice(1)]),
          ),
        )
        for (const connection of heavy) rest.use(connection)
        seen.quiet = [...rig.brokers.map(({ name }) => name), ROVER]
        await sleep(ATTEMPT_MS_MAX)
        if (fault === 'part') leader.network('held')
        else if (fault === 'pause') leader.pause()
        else await leader.kill()
        seen.quiet = [leader.name]
        const [ms] = await Promise.all([goesOn(), leavePaused(heavy, seen)])
        t.diagnostic(`${fault}: appends go on after ${ms} ms`)
        // The deposed leader still answers: this is what a barrier must not trust.
        const before = seen.shown
        const told = admin
          .request(`$JS.API.STREAM.INFO.daybook-${STREAM}`, '', { timeout: 500 })
          .then((answer) => answer.json<{ state?: { last_seq: number } }>().state?.last_seq)
          .catch(() => undefined)
        if (fault === 'part') await told
        if (fault === 'part') leader.network('open')
        else if (fault === 'pause') leader.resume()
        else leader.start()
        if (((await told) ?? before) < before) stale += 1
        seen.quiet = []
        await goesOn()
      }
      stop.abort()
      await clients
      const logs = await Promise.all(connections.map(({ log }) => readAll(log)))
      const [texts = [], ...others] = logs.map((all) => all.map(({ bytes }) => Buffer.from(bytes).toString()))
      for (const other of others) assert.deepEqual(other, texts, 'each broker shows the same log')
      assert.equal(new Set(texts).size, texts.length, 'no message is there twice')
      for (const { place, text, answer } of seen.attempts) {
        if (answer === 'appended') assert.equal(texts[place - 1], text, `acknowledged at ${place}`)
        if (answer === 'taken')
          assert.ok(!texts.includes(text), `"${text}" was refused at ${place}, and is there`)
        if (answer === 'unknown' && texts.includes(text))
          assert.equal(texts[place - 1], text, 'its place only')
      }
      for (const change of [/^the stream has another leader: /, /^connected again, with /]) {
        assert.ok(
          changes.some((what) => change.test(what)),
          `the writers learn: ${String(change)}`,
        )
      }
      const unknown = seen.attempts.filter(({ answer }) => answer === 'unknown').length
      t.diagnostic(
        `${seen.attempts.length} attempts, ${seen.acknowledged} acknowledged, ${unknown} unknown; ` +
          `${seen.barriers} barriers, ${seen.refusedBarriers} refused; ${stale} stale answers of a leader`,
      )
    })
  },
)
