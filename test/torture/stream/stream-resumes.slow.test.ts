import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/protocol/moment.ts'
import { STREAM_LIMITS } from '../../../src/serve/stream/limits.ts'
import { openCampaign } from '../campaign.ts'
import { type Heard, heardOf } from './heard-messages.ts'
import { type HeardStream, type LogReference, openLogReference } from './log-reference.ts'
import {
  CURSORS,
  newReader,
  type Places,
  PLACES,
  planResume,
  type Reader,
  type ResumePlan,
} from './resume-plan.ts'
import { readTorn } from './torn-connection.ts'
import { openTortureNode, type TortureNode } from './torture-node.ts'

const CAMPAIGN = openCampaign('stream-resumes')
const LAUNCH_MS = Date.UTC(2026, 4, 20)
/** Events before the first resume, in requests of this size. */
const HISTORY_REQUESTS = 8
const HISTORY_EVENTS = 300
/** Connections at a time. Each lane is one reader after another. */
const LANES = 12
/** Resumes between two looks at the log. */
const ROUND = 60
/** Share of the resumes after which a lane begins with a new reader. */
const NEW_READER = 0.4
/**
 * Events of a resume at least, on average: half of what sound runs heard. A longer run has a longer log: 300 resumes heard
 * 119 events each, 10,000 heard 730.
 */
const EVENTS_MIN = 50
const EVENTS_MORE_EACH = 35
/** A small cache, whose edge is within a short log, and frequent positions. */
const LIMITS = { heartbeatMs: 60, tickMs: 20, cachedLagEventsMax: 700, cachedBytesMax: 200_000 }

type ResumeOutcome = Readonly<{
  plan: ResumePlan
  stream: HeardStream
  status: number
  torn: number
  /** Bytes that had come when the client ended the connection; null when the service ended it. */
  endedAfter: number | null
}>

/** Resumes once, while events are published. */
async function resume(service: TortureNode, plan: ResumePlan, lane: number): Promise<ResumeOutcome> {
  const headMin = service.head()
  let target = plan.publishes > 0 ? Infinity : headMin
  const published = plan.publishes > 0 ? service.publish(plan.publishes) : Promise.resolve(headMin)
  const read = readTorn({
    port: service.port,
    from: `127.1.0.${lane + 1}`,
    request: plan.request,
    end: plan.end,
    bytesMax: plan.bytesMax,
    isEnough: (newest) => Number(newest.match(/.*"seq":(\d+),/s)?.[1] ?? -1) >= target,
  })
  target = await published
  const { bytes, endedAfter } = await read
  const heard = heardOf(bytes, plan.ndjson)
  return {
    plan,
    endedAfter,
    status: heard.status,
    torn: heard.torn,
    stream: { ...plan, headMin, messages: heard.messages },
  }
}

/** The reader after a connection: it has the last id that came whole. */
function advanced(reader: Reader, { stream, status }: ResumeOutcome): Reader {
  const ids = stream.messages.filter(({ is }) => is === 'event' || is === 'position')
  if (status !== 200 || ids.length === 0) return reader
  const { filter, details, ndjson } = stream
  const began = reader.lastId < 0 ? (ids[0]?.seq ?? 0) : reader.began
  return { filter, details, ndjson, began, lastId: ids.at(-1)?.seq ?? 0 }
}

function placesOf(service: TortureNode, reference: LogReference): Places {
  return {
    head: service.head(),
    page: STREAM_LIMITS.pageEventsMax,
    scan: STREAM_LIMITS.scanEventsMax,
    ring: LIMITS.cachedLagEventsMax,
    monthEnds: reference.monthEnds(),
    atMs: (seq) => reference.atMs(Math.min(seq, reference.size())),
  }
}

type Counts = Record<string, number>

function count(counts: Counts, name: string, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by
}

/** Checks what a connection heard against the log, and counts it. */
function check(reference: LogReference, outcome: ResumeOutcome, counts: Counts): void {
  const { plan, stream, status, torn, endedAfter } = outcome
  for (const name of [plan.place, `by ${plan.way}`, plan.end]) count(counts, name)
  if (status === 400) {
    assert.ok(plan.mayBeAhead, `refused: ${plan.asked}`)
    count(counts, 'refused')
    return
  }
  assert.ok(status === 200 || status === 0, `status ${status}: ${plan.asked}`)
  const hasPosition = stream.messages.some(({ is }) => is === 'position')
  // A cut before the first position leaves nothing to check, but only the client may have made it.
  if (!hasPosition)
    assert.ok(
      endedAfter !== null && (status === 200 || endedAfter >= plan.bytesMax),
      `the client ended it after ${endedAfter} of ${plan.bytesMax} bytes: ${plan.asked}`,
    )
  count(counts, hasPosition ? 'heard' : status === 0 ? 'cutInHead' : 'cutBeforePosition')
  try {
    for (const [name, by] of Object.entries(reference.assertHeard(stream))) count(counts, name, by)
  } catch (cause) {
    throw new Error(`seed ${CAMPAIGN.seed}: ${plan.asked}: ${String(cause)}`, { cause })
  }
  if (torn > 0) count(counts, 'torn')
}

/** One round: lanes of readers that resume at the same time. */
async function round(
  service: TortureNode,
  reference: LogReference,
  readers: Reader[],
  first: number,
  resumes: number,
): Promise<readonly ResumeOutcome[]> {
  const done: ResumeOutcome[] = []
  let next = first
  const lane = async (number: number): Promise<void> => {
    while (next < first + resumes) {
      const random = randomOf(`${CAMPAIGN.seed} resume ${next}`)
      next += 1
      const kept = readers[number]
      const reader = kept === undefined || random.chance(NEW_READER) ? newReader(random) : kept
      reference.want(reader.filter)
      const plan = planResume(random, reader, placesOf(service, reference))
      if (random.chance(0.3))
        service.setNow(service.nowMs() + (random.chance(0.05) ? 12 * DAY_MS : random.below(MINUTE_MS)))
      const outcome = await resume(service, plan, number)
      readers[number] = advanced(reader, outcome)
      done.push(outcome)
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
  return done
}

/** Faults that a server could have, made in what was heard. */
const FAULTS: readonly (readonly [
  fault: string,
  make: (messages: readonly Heard[], at: number) => Heard[],
])[] = [
  ['a lost event', (messages, at) => messages.toSpliced(at, 1)],
  ['a repeated event', (messages, at) => messages.toSpliced(at, 0, ...messages.slice(at, at + 1))],
  [
    'events in another order',
    (messages, at) => [...messages.slice(0, at), ...messages.slice(at).toReversed()],
  ],
  [
    'another byte',
    (messages, at) =>
      messages.map((one, index) =>
        index === at ? { ...one, line: one.line.replace('"kind"', '"kinD"') } : one,
      ),
  ],
  ['lost details', (messages) => messages.filter(({ is }) => is !== 'details')],
  [
    'a position beyond a match',
    (messages, at) => messages.filter(({ is }, index) => is !== 'event' || index < at),
  ],
]

/** Asserts that the checker finds each fault in a stream that it has passed. Returns the number of faults. */
function assertTeeth(reference: LogReference, { stream }: ResumeOutcome): number {
  const at = stream.messages.findIndex(({ is }, index) => is === 'event' && index > 3)
  for (const [fault, make] of FAULTS)
    assert.throws(
      () => reference.assertHeard({ ...stream, messages: make(stream.messages, at) }),
      Error,
      fault,
    )
  return FAULTS.length
}

function isRich({ plan, stream }: ResumeOutcome): boolean {
  const last = stream.messages.at(-1)
  const isFull =
    stream.messages.filter(({ is }) => is === 'details').length >= 2 && stream.messages.length > 20
  return isFull && plan.details && last?.is === 'position'
}

suite(`streams resumed ${CAMPAIGN.size} times from anywhere while events are published`, () => {
  test(
    'give exactly the matches after their cursor, byte for byte',
    { timeout: 300_000 + CAMPAIGN.size * 2_000 },
    async (t) => {
      const random = randomOf(`${CAMPAIGN.seed} drafts`)
      const settings = { streamLimits: LIMITS }
      await using service = await openTortureNode(random, LAUNCH_MS, settings)
      for (let request = 0; request < HISTORY_REQUESTS; request += 1) {
        await service.publish(HISTORY_EVENTS)
        service.setNow(service.nowMs() + 9 * DAY_MS)
      }
      const reference = openLogReference(service.url)
      await reference.read()
      const readers: Reader[] = []
      const counts: Counts = {}
      let teeth = 0
      for (let done = 0; done < CAMPAIGN.size; done += ROUND) {
        const heard = await round(service, reference, readers, done, Math.min(ROUND, CAMPAIGN.size - done))
        await reference.read()
        for (const one of heard) check(reference, one, counts)
        const rich = heard.find(isRich)
        if (rich !== undefined) teeth += assertTeeth(reference, rich)
        if (done % 1_200 === 0) t.diagnostic(`${done} resumes, ${reference.size()} events`)
      }
      await service.assertWhole()
      const each = Math.floor(CAMPAIGN.size / 60)
      const floors = {
        events: Math.floor(CAMPAIGN.size * (EVENTS_MIN + CAMPAIGN.size / EVENTS_MORE_EACH)),
        details: CAMPAIGN.size,
        live: Math.floor(CAMPAIGN.size / 8),
        torn: Math.floor(CAMPAIGN.size / 8),
        cutInHead: Math.floor(CAMPAIGN.size / 20),
        heard: Math.floor(CAMPAIGN.size / 2),
        teeth: FAULTS.length,
        chain: each * 10,
        ...Object.fromEntries(PLACES.map((place) => [place, each])),
        ...Object.fromEntries(CURSORS.map((way) => [`by ${way}`, each])),
        ...Object.fromEntries(['fin', 'rst', 'half-close'].map((end) => [end, each * 10])),
      }
      CAMPAIGN.finish(t, { resumes: CAMPAIGN.size, published: reference.size(), ...counts, teeth }, floors)
    },
  )
})
