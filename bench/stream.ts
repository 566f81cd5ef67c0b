import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { share } from './stage/measure.ts'
import { table, thousands } from './stage/report.ts'
import {
  type Candidate,
  type CandidateName,
  CANDIDATES,
  compiled,
  startCandidate,
} from './stream/stream-candidates.ts'
import { type Crowd, memoryOf, openCrowd, type Slice, writeBodies } from './stream/stream-crowd.ts'
import { type Figures, type Goal, goalRow } from './stream/stream-goals.ts'

/** Measures the cost of a delivered event, and that of other stream servers and of a bare loop. */

/** A number of subscribers, and the rates of events, for all candidates in turn. */
type Scene = Readonly<{
  subscribers: number
  eventsPerSecond: readonly number[]
  floods: boolean
  idles: boolean
  /** Whether the figures have goals. */
  held: boolean
}>

const QUICK: readonly Scene[] = [
  // Measures the publishing cost with a single delivery. A larger crowd shares this cost.
  { subscribers: 1, eventsPerSecond: [50], floods: false, idles: false, held: false },
  { subscribers: 1_000, eventsPerSecond: [50, 300], floods: true, idles: false, held: true },
]
const FULL: readonly Scene[] = [
  ...QUICK,
  { subscribers: 10_000, eventsPerSecond: [5, 30], floods: false, idles: true, held: true },
]
/** File descriptors of a process in addition to its subscribers' sockets. */
const FILES_BESIDE = 1_000
/** Wait for the garbage collector after ten thousand handshakes. It runs only when the process is idle. */
const IDLE_MS = 20_000
const FLOOD_MS = 1_000
/** Events in one publish request. Only Daybook accepts more than one. */
const FLOOD_BATCH = { drafts: 200, lines: 1 } as const
const FLOOD_WINDOW = { drafts: 2_000, lines: 100 } as const

const CPU_GOALS: readonly Goal[] = [
  { most: 1.3, to: 'C loop' },
  { most: 0.9, to: 'nchan' },
  { most: 0.9, to: 'better-sse' },
]

const KIB = 1024

const { values } = parseArgs({ options: { full: { type: 'boolean', default: false } } })
const rounds = values.full ? 5 : 3
const sliceMs = values.full ? 1_000 : 800
process.stdout.write(`${await streams(values.full ? FULL : QUICK)}\n`)

async function streams(scenes: readonly Scene[]): Promise<string> {
  const said = ['## Streams', '']
  if (!existsSync('/proc/self/stat')) return [...said, 'Measured on Linux only.', ''].join('\n')
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-stream-'))
  try {
    const load = compiled('stream-load', folder)
    if (load === null)
      return [...said, 'A C compiler (cc) is not installed: nothing was measured.', ''].join('\n')
    writeBodies(folder)
    const figures: string[][] = []
    const goals: string[][] = []
    for (const scene of scenes) {
      const found =
        filesMax() >= scene.subscribers + FILES_BESIDE ? await sceneFigures(scene, folder, load) : null
      if (found === null)
        said.push(
          `${thousands(scene.subscribers)} subscribers need \`ulimit -n\` of ${scene.subscribers + FILES_BESIDE}; it is ${filesMax()}.`,
          '',
        )
      for (const { name, digits, of, goals: bounds } of found ?? []) {
        figures.push([
          name,
          ...CANDIDATES.map((candidate) => of[candidate]?.toFixed(digits) ?? 'not installed'),
        ])
        goals.push(...bounds.map((goal) => goalRow(name, goal, of)))
      }
    }
    return [
      ...said,
      `Drafts of the simulator: an event is a line of some 140 bytes, and some 160 as a frame. Medians of ${rounds} slices of ${sliceMs} ms that the candidates are given in turn; the processor time is that of the whole serving process, user and system, publishing included: Daybook alone keeps what it is given, in a commit that is synced. One worker of nginx, one thread of each other serves the streams. The subscribers are one process that counts: none lost, repeated or reordered an event.`,
      '',
      table(['', ...CANDIDATES], figures),
      '',
      table(['goal', 'is', 'at', 'held'], goals),
      '',
      'The loops are floors and no peers: one write of each subscriber for each event, in C and in the runtime that Daybook has, with nothing kept, checked or sliced. Where events come slowly (50 a second), every write carries one event, and the two floors are what the kernel and Node take of it; the publishing, with a commit for each event, is on top: it is what an event costs with one subscriber. Where they come faster, what is committed before the end of a fan-out shares the next write. Latency is counted from the moment an event is due to be sent until each subscriber has it; at 300 events a second the loops and the peers that write each event by itself fall behind on a machine that is shared.',
      '',
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A line of the report: the measured figures of the candidates, and Daybook's goals. */
type Measured = Readonly<{ name: string; digits: number; of: Figures; goals: readonly Goal[] }>

async function sceneFigures(scene: Scene, folder: string, load: string): Promise<readonly Measured[]> {
  const { subscribers } = scene
  await using stack = new AsyncDisposableStack()
  const crowds: Crowd[] = []
  const idle: Partial<Record<CandidateName, number>> = {}
  const before = new Map<Candidate, number>()
  for (const name of CANDIDATES) {
    process.stderr.write(`streams: ${crowdOf(subscribers)} of ${name}\n`)
    const candidate = await startCandidate(name, folder, subscribers)
    if (candidate === null) continue
    stack.use(candidate)
    before.set(candidate, memoryOf(candidate.pid))
    crowds.push(stack.use(await openCrowd(load, folder, candidate, subscribers)))
  }
  const measured: Measured[] = []
  if (scene.idles) {
    await wait(IDLE_MS)
    for (const [{ name, pid }, bytes] of before) idle[name] = (memoryOf(pid) - bytes) / subscribers / KIB
    const name = `memory of an idle subscriber, ${thousands(subscribers)} of them, KiB`
    measured.push({ name, digits: 1, of: idle, goals: [{ most: 24 }] })
  }
  // The flood comes first, so that the code is compiled before slow paces are measured.
  if (scene.floods) {
    const slices = await inTurn(crowds, flood)
    const name = `deliveries a second, thousands, as fast as it goes: ${thousands(subscribers)} subscribers`
    const of = medians(slices, ({ deliveries, ms, drainedMs }) => deliveries / (ms + drainedMs))
    measured.push({ name, digits: 0, of, goals: [{ least: 15, to: 'nchan' }] })
  }
  for (const rate of scene.eventsPerSecond) {
    const slices = await inTurn(crowds, (crowd) => crowd.pace(rate, sliceMs))
    const of = (figure: (slice: Slice) => number): Figures => medians(slices, figure)
    const crowd = `${crowdOf(subscribers)}, ${rate} events/s`
    measured.push({
      name: `CPU of a delivered event, µs: ${crowd}`,
      digits: 2,
      of: of(({ cpuSeconds, deliveries }) => (cpuSeconds / deliveries) * 1e6),
      goals: scene.held ? CPU_GOALS : [],
    })
    const goals: readonly Goal[] = subscribers === 1_000 && rate === 300 ? [{ most: 0.2, to: 'nchan' }] : []
    measured.push({
      name: `publish to receive, p99, ms: ${crowd}`,
      digits: 1,
      of: of(({ p99 }) => p99),
      goals,
    })
  }
  return measured
}

function crowdOf(subscribers: number): string {
  return `${thousands(subscribers)} subscriber${subscribers === 1 ? '' : 's'}`
}

function flood(crowd: Crowd): Promise<Slice> {
  const { takes } = crowd.candidate
  return crowd.flood(FLOOD_BATCH[takes], FLOOD_WINDOW[takes], FLOOD_MS)
}

type Slices = ReadonlyMap<CandidateName, readonly Slice[]>

/** Runs slices of all candidates in turn, in several rounds. The first round only warms up. */
async function inTurn(crowds: readonly Crowd[], slice: (crowd: Crowd) => Promise<Slice>): Promise<Slices> {
  const slices = new Map<CandidateName, Slice[]>(crowds.map(({ candidate }) => [candidate.name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const crowd of crowds) {
      const taken = await slice(crowd)
      if (round > 0) slices.get(crowd.candidate.name)?.push(taken)
    }
  }
  return slices
}

function medians(slices: Slices, figure: (slice: Slice) => number): Figures {
  return Object.fromEntries([...slices].map(([name, of]) => [name, share(of.map(figure), 0.5)]))
}

/** Limit of open files for this process and its children. */
function filesMax(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity)
}
