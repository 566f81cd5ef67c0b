import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type NodeProcess, startNode } from '../../test/stage/node-process.ts'

/** A server in separate processes, whose processor time is measured. `also` is a second one that it needs. */
export type Server = AsyncDisposable & Readonly<{ pid: number; port: number; also?: number }>

const START_MS_MAX = 30_000
/** Linux counts processor time for user programs in hundredths of a second, on every machine. */
const TICK_US = 10_000

/** Daybook on a data directory, by default with one worker. */
export async function startService(
  data: string,
  options: readonly string[] = ['--workers', '1'],
): Promise<Server & Readonly<{ node: NodeProcess }>> {
  const node = await startNode(data, ['--chain', 'solana', ...options])
  return {
    node,
    pid: pidOf(node.child),
    port: Number(new URL(node.url).port),
    [Symbol.asyncDispose]: async () => void (await node.end('SIGTERM')),
  }
}

/** Starts a program that says on which port it listens, such as `http://127.0.0.1:8080`. */
export async function startServer(program: string, words: readonly string[]): Promise<Server> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? []
    if (port === undefined) continue
    clearTimeout(late)
    child.stdout.resume()
    return { pid: pidOf(child), port: Number(port), [Symbol.asyncDispose]: () => stop(child) }
  }
  throw new Error(`${program} ${words.join(' ')} did not start`)
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

export function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`${spawnfile} did not start`)
  return pid
}

/** Microseconds of processor time, user and system, of processes and their descendants. */
export function cpuMicroseconds(...roots: readonly number[]): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(statOf)
  const family = new Set(roots)
  // A child may be listed before its parent, so the search repeats until it finds no further process.
  for (let size = 0; size < family.size;) {
    size = family.size
    for (const { pid, parent } of stats) if (family.has(parent)) family.add(pid)
  }
  return stats.filter(({ pid }) => family.has(pid)).reduce((sum, { ticks }) => sum + ticks * TICK_US, 0)
}

type Stat = Readonly<{ pid: number; parent: number; ticks: number }>

/** Nothing for a process that has ended. */
function statOf(pid: string): readonly Stat[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name is in brackets and may contain blanks, so the fields are read after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }]
  } catch {
    return []
  }
}
