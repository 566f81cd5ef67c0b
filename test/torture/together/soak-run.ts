import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { monthOf, type Ms, msOf } from '../../../src/protocol/moment.ts'
import { run } from '../../stage/command-stage.ts'
import { until } from '../../processes/other-program.ts'
import { measureShare } from '../../processes/machine-share.ts'
import { openSoakClients, type SoakLoad, type SoakReport } from './soak-clients.ts'
import { openSoakCourse, type SoakCourse } from './soak-course.ts'
import { fillCaches, HISTORY_EVENTS, importHistory, publishHistory } from './soak-history.ts'
import { type NodeSample, openSoakNode, type SoakNode } from './soak-node.ts'
import { openClusterPublishers } from '../history/cluster-publishers.ts'

/** State of both nodes at a moment. Sessions, events and GETs are counted from the start. */
type SoakSample = Readonly<{
  hour: number
  events: number
  sessions: number
  lives: Readonly<{ writer: number; mirror: number }>
  writer: NodeSample | null
  mirror: NodeSample | null
  /** 99th percentile of the GETs since the last sample, in milliseconds. Null for a node that was down. */
  getP99: Readonly<{ writer: number | null; mirror: number | null }>
  /** Duration of computing since the last sample, as a multiple of that on an idle machine. */
  slowness: number
}>

/** Everything that a soak has recorded. */
export type SoakHistory = Readonly<{
  samples: readonly SoakSample[]
  marks: readonly Readonly<{ hour: number; name: string }>[]
  /** After a little load, and when all of it is over. No reader is connected at either moment. */
  begin: Readonly<{ writer: NodeSample; mirror: NodeSample }>
  end: Readonly<{ writer: NodeSample; mirror: NodeSample }>
  counts: Readonly<Record<string, number>>
  wrong: readonly string[]
}>

type Settings = Readonly<{
  folder: string
  seed: string
  hours: number
  hourSeconds: number
  factor: number
}>

const EVENTS_PER_SECOND = 24
const PUBLISHERS = 4
/** Mean number of drafts of a request. */
const DRAFTS_OF_REQUEST = 1.6
const OPENS_PER_SECOND = 20
const GETS_PER_SECOND = 200
const STREAM_MS = 25_000
/** Time between two samples. */
export const SAMPLE_MS = 2_500
const LOOK_MS = 100
const ASK_MS_MAX = 10_000
/** Share of the run at which a month ends. */
const MONTH_END = 0.4
const HOUR_MS = 3_600_000
/** Time of load before the first sample: what is opened once is open then. */
const WARM_UP_MS = 15_000
const SETTLED_MS_MAX = 180_000
const P99_ANSWERS_MIN = 20
const SAID_CHARACTERS = 2_000

/** Runs a writer that is restarted, and a mirror of it that is not, under load. Both are stopped at the end. */
export async function runSoak(settings: Settings, tell: (line: string) => void): Promise<SoakHistory> {
  const { folder, seed, hours, hourSeconds, factor } = settings
  await using stack = new AsyncDisposableStack()
  const clockFile = join(folder, 'clock')
  const runMs = hours * hourSeconds * 1_000
  const clock = openSoakClock(clockFile, hours, runMs)
  const writer = stack.use(await openSoakNode(join(folder, 'writer'), '--publish-port', clockFile))
  const mirror = stack.use(await openSoakNode(join(folder, 'mirror'), '--ops-port', clockFile))
  const course = openSoakCourse({ folder, writer, hours, onStart: clock.step })
  const later = await importHistory(writer.data, clock.from, clockFile)
  await course.begin()
  await mirror.start(mirrorWords(writer))
  await publishHistory(writer.ops, course.token, later)
  await until(
    'the mirror has the history',
    async () => (await headOf(mirror)) === HISTORY_EVENTS,
    SETTLED_MS_MAX,
  )
  using publishers = openClusterPublishers({
    seed,
    publishers: PUBLISHERS,
    nodes: [{ ...writer, name: 'writer', kind: 'writer', url: () => writer.url, publishUrl: writer.ops }],
    token: course.token,
    pay: null,
    paceMs: (DRAFTS_OF_REQUEST * PUBLISHERS * 1_000) / (EVENTS_PER_SECOND * factor),
  })
  const nodes = { writer, mirror }
  const load = {
    seed,
    urls: [writer.url, mirror.url],
    head: HISTORY_EVENTS,
    streamMs: STREAM_MS,
    opensPerSecond: OPENS_PER_SECOND * factor,
    getsPerSecond: GETS_PER_SECOND * factor,
  }
  const begin = await warmed(nodes, load)
  for (const node of [writer, mirror])
    assert.ok(!(await node.hasClosed(clock.month)), `${clock.month} is open at first`)
  const clients = stack.use(openSoakClients({ ...load, head: await headOf(mirror) }))
  const samples: SoakSample[] = []
  const marks: { hour: number; name: string }[] = []
  let report: SoakReport | null = null
  const begun = performance.now()
  clock.begin()
  const hourNow = (): number => (performance.now() - begun) / 1_000 / hourSeconds
  const acting = act(
    course,
    () => hourNow() / hours,
    (name) => marks.push({ hour: hourNow(), name }),
  )
  acting.catch(() => undefined)
  while (hourNow() < hours) {
    const share = measureShare()
    await Promise.race([sleep(SAMPLE_MS), acting.then(() => sleep(SAMPLE_MS))])
    const [own, other, head] = await Promise.all([writer.sample(), mirror.sample(), headOf(mirror)])
    report = await clients.report(head)
    const [ownMs = [], otherMs = []] = report.getMs
    samples.push({
      hour: hourNow(),
      events: head,
      sessions: report.opened,
      lives: { writer: writer.lives(), mirror: mirror.lives() },
      writer: own,
      mirror: other,
      getP99: { writer: p99Of(ownMs), mirror: p99Of(otherMs) },
      slowness: share.slowness(),
    })
    if (samples.length % Math.ceil((hourSeconds * 1_000) / SAMPLE_MS) === 0)
      tell(
        `hour ${hourNow().toFixed(1)}: ${head} events, ${report.opened} streams, ${report.gets} GETs, ${publishers.counts.unknowns} requests without an answer`,
      )
  }
  await acting
  clients.calm()
  await publishers.end()
  const { requests } = publishers
  const drafts = requests.reduce((sum, one) => sum + (one.acks.length > 0 ? one.drafts.length : 0), 0)
  await until(
    'the mirror has every event',
    async () => (await headOf(mirror)) === (await headOf(writer)),
    SETTLED_MS_MAX,
  )
  await readersGone(nodes)
  const end = await sampled(nodes)
  const monthEnds = (await writer.hasClosed(clock.month)) && (await mirror.hasClosed(clock.month)) ? 1 : 0
  const events = await headOf(writer)
  const wrong = [...(report?.wrong ?? [])]
  for (const {
    drafts: [first],
    acks,
    refusals,
    expected,
  } of requests)
    if ((expected === 'published' ? refusals : acks).length > 0)
      wrong.push(`${first?.ref} was not ${expected}`)
  if (events !== HISTORY_EVENTS + drafts)
    wrong.push(`the log has ${events - HISTORY_EVENTS} new events of ${drafts} acknowledged drafts`)
  // The verifier calls a service wrong whose clock is.
  for (const node of [mirror, writer])
    assert.equal(await node.end('SIGTERM'), 0, node.said().slice(-SAID_CHARACTERS))
  clock.right()
  await course.begin()
  await mirror.start(mirrorWords(writer))
  for (const { url } of [writer, mirror]) wrong.push(...(await audit(['verify', url])))
  for (const node of [mirror, writer])
    assert.equal(await node.end('SIGTERM'), 0, node.said().slice(-SAID_CHARACTERS))
  for (const { data } of [writer, mirror]) wrong.push(...(await audit(['check', '--data', data])))
  return {
    samples,
    marks,
    begin,
    end,
    wrong,
    counts: {
      ...course.counts,
      monthEnds,
      requests: requests.length,
      ...publishers.counts,
      events: drafts,
      ...readersOf(report),
    },
  }
}

const mirrorWords = ({ url }: SoakNode): readonly string[] => ['mirror', url, '--rate-limit', 'off']

/** Puts the nodes under load for a moment, and samples them when all readers are gone. */
async function warmed(
  nodes: Readonly<{ writer: SoakNode; mirror: SoakNode }>,
  load: SoakLoad,
): Promise<SoakHistory['begin']> {
  await using clients = openSoakClients({ ...load, seed: `${load.seed} warm-up` })
  await Promise.all([sleep(WARM_UP_MS), fillCaches(load.urls)])
  clients.calm()
  await readersGone(nodes)
  return await sampled(nodes)
}

/** Waits until no stream of a reader is open. */
async function readersGone(nodes: Readonly<{ writer: SoakNode; mirror: SoakNode }>): Promise<void> {
  const areGone = async (): Promise<boolean> => {
    const { writer, mirror } = await sampled(nodes)
    // The mirror follows the writer by a stream.
    return writer.streams <= 1 && mirror.streams === 0
  }
  await until('all streams of readers are closed', areGone, SETTLED_MS_MAX)
}

/** Does what the operator does, each at its time. */
async function act(course: SoakCourse, shareNow: () => number, mark: (name: string) => void): Promise<void> {
  for (let deed = course.next(); deed !== null; deed = course.next()) {
    while (shareNow() < deed.share) await sleep(LOOK_MS)
    mark(deed.name)
    await deed.act()
  }
}

type SoakClock = Readonly<{
  /** Moment of this clock at the beginning. */
  from: Ms
  /** Month whose end it passes. */
  month: string
  begin(): void
  step(): void
  right(): void
}>

/**
 * A clock in a file that passes the end of a month, and stays in the past. It steps to the simulated hour while the writer
 * is down, because a running one does not believe a clock that steps.
 */
function openSoakClock(path: string, hours: number, runMs: number): SoakClock {
  const span = hours * HOUR_MS
  const now = new Date()
  const thisMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const lastMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)
  const monthEnd = Date.now() - thisMonth > span ? thisMonth : lastMonth
  const from = monthEnd - MONTH_END * span
  const offset = from - Date.now()
  let begunMs: number | null = null
  const aheadMs = (): number =>
    begunMs === null ? 0 : Math.min(span - runMs, (performance.now() - begunMs) * (span / runMs - 1))
  let isRight = false
  const step = (): void => writeFileSync(path, isRight ? '0' : String(Math.round(offset + aheadMs())))
  step()
  return {
    from: msOf(from),
    month: monthOf(msOf(from)),
    step,
    right() {
      isRight = true
      step()
    },
    begin: () => void (begunMs = performance.now()),
  }
}

async function sampled(
  nodes: Readonly<{ writer: SoakNode; mirror: SoakNode }>,
): Promise<SoakHistory['begin']> {
  const [writer, mirror] = await Promise.all([nodes.writer.sample(), nodes.mirror.sample()])
  assert.ok(writer !== null && mirror !== null, 'both nodes answer')
  return { writer, mirror }
}

/** The newest seq of a node; 0 while it does not answer. */
async function headOf({ url }: SoakNode): Promise<number> {
  try {
    const answer = await fetch(`${url}/api/v1/log/checkpoint`, { signal: AbortSignal.timeout(ASK_MS_MAX) })
    return Number((await answer.text()).split('\n')[1])
  } catch {
    return 0
  }
}

function p99Of(values: readonly number[]): number | null {
  if (values.length < P99_ANSWERS_MIN) return null
  const ordered = values.toSorted((a, b) => a - b)
  return ordered[Math.ceil(ordered.length * 0.99) - 1] ?? null
}

function readersOf(report: SoakReport | null): Readonly<Record<string, number>> {
  const { opened = 0, refused = 0, delivered = 0, gets = 0, unavailable = 0, skipped = 0 } = report ?? {}
  return { sessions: opened, refused, delivered, gets, unavailable, skipped }
}

/** Fails of a command that audits, as sentences. */
async function audit(words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(words)
  return code === 0 ? [] : [`${words[0]}: ${`${stdout}${stderr}`.slice(-SAID_CHARACTERS)}`]
}
