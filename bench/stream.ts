import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { bulkLines } from '../sim/bulk.ts'
import type { EventWire } from '../src/protocol/event.ts'
import { DAY_MS, msOf } from '../src/protocol/moment.ts'
import { freePort } from '../test/processes/free-ports.ts'
import { cpuMicroseconds, pidOf, type Server, startServer, startService, stop } from './stage/processes.ts'
import { benchSettings, inTurns, type Measured, report } from './stage/report.ts'

/**
 * Measures the processor time of a delivered event: that of the whole serving process, publishing included. Daybook alone
 * keeps what it is given, in a commit that is synced. nginx has one worker, each other server one thread for its streams.
 */

/** Numbers of subscribers, with the events a second that they get. */
const CROWDS = [[1_000, 300]] as const
const FULL_CROWDS = [...CROWDS, [10_000, 5]] as const
const TURN_MS = 1_000
/** Events that the publisher may publish in all. */
const EVENTS_MAX = 100_000
/** Connections that nginx opens for itself. */
const NGINX_CONNECTIONS = 128
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so'
/** The folder of the bench's own files. */
const HERE = join(import.meta.dirname, 'stream')

/** A stream server, and the requests that subscribe and publish. */
type Candidate = Server &
  Readonly<{
    subscribe: string
    publishPort: number
    /** Publish request without `Content-Length`, the end of the head, and the body. */
    publishHead: string
    /** File of the bodies to publish: drafts, or the lines that Daybook makes of them. */
    bodies: 'drafts' | 'lines'
  }>

/** The subscribers of a candidate and its publisher, in a process. */
type Crowd = AsyncDisposable & Readonly<{ cpuPerDelivery(eventsPerSecond: number): Promise<number> }>

const { full, rounds } = benchSettings()
const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-stream-'))
try {
  const load = join(folder, 'load')
  const compiled = spawnSync('cc', ['-O2', '-o', load, join(HERE, 'stream-load.c')], { stdio: 'inherit' })
  if (compiled.status === 0) {
    writeBodies()
    for (const [subscribers, rate] of full ? FULL_CROWDS : CROWDS) await compare(load, subscribers, rate)
  } else process.stderr.write('stream: a C compiler (cc) is not installed\n')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function compare(load: string, subscribers: number, rate: number): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const peers = ['nginx with nchan', 'better-sse'] as const
  const servers = [await startDaybook(subscribers), await startNchan(subscribers), await startBetterSse()]
  const crowds: Crowd[] = []
  for (const server of servers) {
    if (server === undefined) continue
    stack.use(server)
    crowds.push(stack.use(await openCrowd(load, server, subscribers)))
  }
  // Slowly first, so that the code is compiled before requests come faster than cold code takes them.
  for (const crowd of crowds) await crowd.cpuPerDelivery(rate / 6)
  const costs = [...(await inTurns(rounds, crowds, (crowd) => crowd.cpuPerDelivery(rate)))]
  const ours = costs.shift() ?? []
  const what = `an event to one of ${subscribers.toLocaleString('en-US')} streams, ${rate} events a second`
  report(
    peers.map((peer, index): Measured => {
      const theirs = servers[index + 1] === undefined ? undefined : costs.shift()
      return { what, unit: 'CPU µs', peer, ours, theirs, better: 'less' }
    }),
  )
}

/** Opens all subscribers. Resolves when each has the head of its answer. */
async function openCrowd(load: string, candidate: Candidate, subscribers: number): Promise<Crowd> {
  const { port, pid, subscribe, publishPort, publishHead, bodies } = candidate
  const words = [port, subscribers, subscribe, publishPort, publishHead, join(folder, bodies)].map(String)
  const child = spawn(load, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('the subscribers ended')
    return value
  }
  await next()
  return {
    async cpuPerDelivery(eventsPerSecond) {
      const before = cpuMicroseconds(pid)
      child.stdin.write(`${eventsPerSecond} ${TURN_MS}\n`)
      const { deliveries, ...faults } = JSON.parse(await next())
      if (Object.values(faults).some((count) => count !== 0)) throw new Error(JSON.stringify(faults))
      return (cpuMicroseconds(pid) - before) / deliveries
    },
    [Symbol.asyncDispose]: () => stop(child),
  }
}

async function startDaybook(subscribers: number): Promise<Candidate> {
  const service = await startService(join(folder, `data-${subscribers}`), ['--max-streams', `${subscribers}`])
  const { publishUrl, token } = service.node
  return {
    ...service,
    subscribe: getOf('/api/v1/stream?after=0'),
    publishPort: Number(new URL(publishUrl).port),
    publishHead: `POST /publish HTTP/1.1\r\nHost: publish\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/x-ndjson\r\n`,
    bodies: 'drafts',
  }
}

async function startBetterSse(): Promise<Candidate> {
  return peerOf(await startServer(process.execPath, [join(HERE, 'stream-better-sse.ts')]))
}

/** One worker, because one thread serves Daybook's streams. It keeps messages, so that no subscriber misses one. */
async function startNchan(subscribers: number): Promise<Candidate | undefined> {
  if (!existsSync(NCHAN)) return undefined
  const port = await freePort()
  const config = join(folder, `nginx-${subscribers}.conf`)
  // Above the need, because nginx closes idle connections when less than a sixteenth is free.
  const connections = 2 * subscribers + NGINX_CONNECTIONS
  writeFileSync(
    config,
    `load_module ${NCHAN};
daemon off; worker_processes 1; worker_rlimit_nofile ${connections}; pid nginx.pid; error_log stderr error;
events { worker_connections ${connections}; }
http {
  access_log off; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 3600s;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  nchan_shared_memory_size 256M; nchan_message_buffer_length 20000; nchan_message_timeout 10m;
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location = /publish { nchan_publisher; nchan_channel_id bench; client_body_in_single_buffer on; }
    location = /subscribe { nchan_subscriber eventsource; nchan_channel_id bench; nchan_subscriber_first_message newest; }
  }
}
`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', config, '-e', 'stderr'], { stdio: 'ignore' })
  while (!(await isAnswered(port))) await sleep(100)
  return peerOf({ port, pid: pidOf(child), [Symbol.asyncDispose]: () => stop(child) })
}

async function isAnswered(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  )
}

function peerOf(server: Server): Candidate {
  return {
    ...server,
    subscribe: getOf('/subscribe'),
    publishPort: server.port,
    publishHead: 'POST /publish HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n',
    bodies: 'lines',
  }
}

function getOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`
}

/** Writes the bodies to publish: drafts of the simulator, and the lines that Daybook makes of them. */
function writeBodies(): void {
  const from = msOf(Date.UTC(2026, 9, 1))
  const drafts: string[] = []
  const lines: string[] = []
  for (const line of bulkLines({ seed: 'stream', from, to: msOf(from + DAY_MS), count: EVENTS_MAX })) {
    const { at, ...draft } = JSON.parse(line)
    const { type, kind, contestId = null, kots = null, tx = null } = draft
    const event: EventWire = {
      seq: lines.length + 1,
      type,
      kind,
      at,
      atMs: Date.parse(at),
      contestId,
      kots,
      tx,
    }
    drafts.push(JSON.stringify(draft))
    lines.push(JSON.stringify(event))
  }
  writeFileSync(join(folder, 'drafts'), `${drafts.join('\n')}\n`)
  writeFileSync(join(folder, 'lines'), `${lines.join('\n')}\n`)
}
