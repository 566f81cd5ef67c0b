import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../processes/free-ports.ts'
import { plainEnvironment, startDaybook, type StartedDaybook } from '../../stage/started-daybook.ts'

/** Time limit of a start: a long log needs more time than others. */
const START_MS_MAX = 120_000
const ASK_MS_MAX = 10_000
const SAID_CHARACTERS_MAX = 50_000
const STEPPED_CLOCK = join(import.meta.dirname, 'stepped-clock.ts')

/** State of a process at a moment. */
export type NodeSample = Readonly<{
  rss: number
  /** Resident bytes of its own. The others are of files that it maps, such as the store: the system's cache of a file. */
  anonymous: number
  heap: number
  /** Bytes of the main thread's heap that V8 keeps although nothing is in them. */
  idleHeap: number
  files: number
  wal: number
  store: number
  /** 99th percentile of the delay of its event loop, in milliseconds. */
  loopMs: number
  streams: number
}>

/** A node on fixed ports, which is started several times with different options. */
export type SoakNode = AsyncDisposable &
  Readonly<{
    url: string
    /** Base URL of its private listener. */
    ops: string
    data: string
    pid(): number | null
    /** Number of its starts. */
    lives(): number
    start(words: readonly string[]): Promise<void>
    end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
    /** Null while it does not answer. */
    sample(): Promise<NodeSample | null>
    /** Whether it lists a month as closed. */
    hasClosed(month: string): Promise<boolean>
    said(): string
  }>

/** The environment of a process whose clock is off by the milliseconds in a file. */
export function clockEnvironment(clockFile: string): NodeJS.ProcessEnv {
  return { ...plainEnvironment(), STEPPED_CLOCK: clockFile, NODE_OPTIONS: `--import=${STEPPED_CLOCK}` }
}

export async function openSoakNode(
  data: string,
  opsOption: '--publish-port' | '--ops-port',
  clockFile: string,
): Promise<SoakNode> {
  const [port = 0, opsPort = 0] = await freePorts(2)
  const [url, ops] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${opsPort}`]
  let running: StartedDaybook | null = null
  let said = ''
  let lives = 0
  const end: SoakNode['end'] = async (signal) => {
    const own = running
    running = null
    return own === null ? null : (await own.end(signal)).code
  }
  const metrics = async (): Promise<(name: string) => number> => {
    const answer = await fetch(`${ops}/metrics`, { signal: AbortSignal.timeout(ASK_MS_MAX) })
    const text = await answer.text()
    return (name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  }
  return {
    url,
    ops,
    data,
    pid: () => running?.child.pid ?? null,
    lives: () => lives,
    async start(words) {
      const ports = ['--port', String(port), opsOption, String(opsPort)]
      const own = startDaybook([...words, '--data', data, ...ports], {
        env: clockEnvironment(clockFile),
        onStderr: (text) => (said = (said + text).slice(-SAID_CHARACTERS_MAX)),
      })
      await own.says(/listening on http/, START_MS_MAX)
      running = own
      lives += 1
    },
    end,
    async sample() {
      const child = running?.child
      if (child === undefined) return null
      try {
        const metric = await metrics()
        const heap = metric('nodejs_heap_size_used_bytes')
        return {
          rss: metric('process_resident_memory_bytes'),
          anonymous: anonymousOf(child.pid),
          heap,
          idleHeap: metric('nodejs_heap_size_total_bytes') - heap,
          files: readdirSync(`/proc/${child.pid}/fd`).length,
          wal: metric('daybook_store_wal_bytes'),
          store: statSync(join(data, 'daybook.db')).size,
          loopMs: metric('nodejs_eventloop_lag_p99_seconds') * 1_000,
          streams: metric('daybook_stream_clients'),
        }
      } catch {
        return null
      }
    },
    async hasClosed(wanted) {
      const answer = await fetch(`${url}/api/v1/archive`, { signal: AbortSignal.timeout(ASK_MS_MAX) })
      assert.equal(answer.status, 200)
      const { months } = (await answer.json()) as { months: readonly { month: string; state: string }[] }
      return months.some(({ month, state }) => month === wanted && state === 'closed')
    },
    said: () => said,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  }
}

/** Bytes of a process that are resident and of no file (proc_pid_status(5), `RssAnon`). */
function anonymousOf(pid: number | undefined): number {
  const [, kib = ''] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1_024
}
