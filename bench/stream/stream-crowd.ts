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
  /** How long what was published took beyond that to reach everyone. */
  drainedMs: number
  /** From the moment at which an event was to be published until a subscriber has it, in milliseconds. */
  p50: number
  p99: number
  /** Seconds of processor time of the candidate, user and system. */
  cpuSeconds: number
}>

/** Subscribers of one candidate and its publisher, in a process of their own. */
export type Crowd = AsyncDisposable &
  Readonly<{
    candidate: Candidate
    /** Publishes one event after the other on a schedule. Throws when one was lost, repeated or refused. */
    pace(eventsPerSecond: number, ms: number): Promise<Slice>
    /** Publishes as fast as it goes, `batch` in a request, with at most `window` on their way. */
    flood(batch: number, window: number, ms: number): Promise<Slice>
  }>

/** Events that the publisher of one crowd may publish; a slice that would need more ends earlier. */
const EVENTS_MAX = 300_000
/** Of `/proc/<pid>/stat`; Linux gives all processes this unit whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100

/** Opens all subscribers and settles when each has the head of its answer. */
export async function openCrowd(
  program: string,
  folder: string,
  candidate: Candidate,
  subscribers: number,
): Promise<Crowd> {
  const { port, subscribe, publishPort, publishHead, takes } = candidate
  const bodies = join(folder, takes)
  const words = [port, subscribers, subscribe, publishPort, publishHead, bodies].map(String)
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

/** Writes what is published: drafts of the simulator, and the same events as the lines that Daybook makes of them. */
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

/** Seconds of processor time that a process has used with all its threads. */
function cpuSecondsOf(pid: number): number {
  // The name of a program may hold spaces and brackets: what counts stands behind the last of them.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Bytes of memory that a process holds. */
export function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
}
