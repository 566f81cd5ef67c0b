import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bulkLines } from '../../sim/bulk.ts'
import type { EventWire } from '../../src/protocol/event.ts'
import { DAY_MS, msOf } from '../../src/protocol/moment.ts'
import type { Candidate } from './stream-candidates.ts'

/** One slice of load on one candidate. */
export type Slice = Readonly<{
  published: number
  deliveries: number
  ms: number
  /** Milliseconds from the last publish until every subscriber has every event. */
  drainedMs: number
  /** Milliseconds from the planned moment of an event until a subscriber has it. */
  p50: number
  p99: number
  /** Seconds of processor time of the candidate, user and system. */
  cpuSeconds: number
}>

/** Subscribers of one candidate and its publisher, in a separate process. */
export type Crowd = AsyncDisposable &
  Readonly<{
    candidate: Candidate
    /** Publishes one event at a time on a schedule. Rejects when one is lost, repeated or refused. */
    pace(eventsPerSecond: number, ms: number): Promise<Slice>
    /** Publishes as fast as possible, `batch` events per request, with at most `window` undelivered. */
    flood(batch: number, window: number, ms: number): Promise<Slice>
  }>

/** Events that the publisher may publish in all. A slice that needs more ends early. */
const EVENTS_MAX = 300_000
/** Ticks of `/proc/<pid>/stat`, the same on every Linux kernel. */
const TICKS_PER_SECOND = 100

/**
 * Opens all subscribers. Resolves when each has the head of its answer. `ports` divides them among several nodes of one
 * log. `head` is the seq before the first event that the crowd publishes.
 */
export async function openCrowd(
  program: string,
  folder: string,
  candidate: Candidate,
  subscribers: number,
  { ports, head }: Readonly<{ ports: readonly number[]; head: number }> = {
    ports: [candidate.port],
    head: 0,
  },
): Promise<Crowd> {
  const { subscribe, publishPort, publishHead, takes } = candidate
  const bodies = join(folder, takes)
  const words = [ports.join(','), subscribers, subscribe, publishPort, publishHead, bodies, head].map(String)
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const line = await lines.next()
    if (line.done === true) throw new Error(`the subscribers of ${candidate.name} ended`)
    return line.value
  }
  await next()

  async function slice(command: string): Promise<Slice> {
    const before = cpuSecondsOf(candidate.pid)
    child.stdin.write(`${command}\n`)
    const said = JSON.parse(await next())
    const faults = ['lost', 'repeated', 'closed', 'refused'].filter((fault) => said[fault] !== 0)
    if (faults.length > 0) {
      throw new Error(
        `${candidate.name}, ${command}: ${faults.map((fault) => `${said[fault]} ${fault}`).join(', ')}`,
      )
    }
    return { ...said, cpuSeconds: cpuSecondsOf(candidate.pid) - before }
  }

  return {
    candidate,
    pace: (eventsPerSecond, ms) => slice(`pace ${eventsPerSecond} ${ms}`),
    flood: (batch, window, ms) => slice(`flood ${batch} ${window} ${ms}`),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.stdin.end()
      child.kill('SIGTERM')
      await exit
    },
  }
}

/** Writes the bodies to publish: drafts of the simulator, and the lines that Daybook makes of them. */
export function writeBodies(folder: string): void {
  const from = msOf(Date.UTC(2026, 9, 1))
  const drafts: string[] = []
  const lines: string[] = []
  for (const line of bulkLines({ seed: 'stream', from, to: msOf(from + DAY_MS), count: EVENTS_MAX })) {
    const { at, ...draft } = JSON.parse(line)
    const { type, kind, contestId = null, kots = null, tx = null } = draft
    const seq = lines.length + 1
    const event: EventWire = { seq, type, kind, at, atMs: Date.parse(at), contestId, kots, tx }
    drafts.push(JSON.stringify(draft))
    lines.push(JSON.stringify(event))
  }
  writeFileSync(join(folder, 'drafts'), `${drafts.join('\n')}\n`)
  writeFileSync(join(folder, 'lines'), `${lines.join('\n')}\n`)
}

/** Seconds of processor time of a process with all its threads. */
function cpuSecondsOf(pid: number): number {
  // The program's name may contain spaces and brackets, so the fields are read after its last bracket.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Bytes of memory that a process holds. */
export function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
}
