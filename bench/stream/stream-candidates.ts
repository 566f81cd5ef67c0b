import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { freePort } from '../../test/processes/free-ports.ts'

/** A stream server in separate processes, and the requests that subscribe and publish. */
export type Candidate = AsyncDisposable &
  Readonly<{
    name: CandidateName
    /** Process that serves the streams. */
    pid: number
    port: number
    subscribe: string
    publishPort: number
    /** Publish request without `Content-Length`, the end of the head, and the body. */
    publishHead: string
    /** `drafts` takes many in one request, `lines` takes one. */
    takes: 'drafts' | 'lines'
  }>

export const CANDIDATES = ['Daybook', 'C loop', 'Node loop', 'nchan', 'better-sse'] as const
export type CandidateName = (typeof CANDIDATES)[number]

const START_MS_MAX = 30_000
const TOKEN = 'a-token-of-the-bench-that-is-long-enough-0123456789'
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so'
const PORT_TRIES = 50
/** Connections that nginx opens for itself. */
const NGINX_CONNECTIONS = 128

/** Starts a candidate with its files in `folder`; null if it is not installed. */
export async function startCandidate(
  name: CandidateName,
  folder: string,
  subscribers: number,
): Promise<Candidate | null> {
  if (name === 'Daybook') return startDaybook(folder, subscribers)
  if (name === 'nchan') return startNchan(folder, subscribers)
  if (name === 'C loop') {
    const floor = compiled('stream-floor', folder)
    return floor === null ? null : startListening(name, floor, [])
  }
  const script = name === 'Node loop' ? 'stream-node-loop.ts' : 'stream-better-sse.ts'
  return startListening(name, process.execPath, [siblingOf(script)])
}

/** Compiles a C file of this folder; null without a compiler. */
export function compiled(name: string, folder: string): string | null {
  const program = join(folder, name)
  if (existsSync(program)) return program
  try {
    execFileSync('cc', ['-O2', '-o', program, siblingOf(`${name}.c`)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch {
    return null
  }
  return program
}

async function startDaybook(folder: string, subscribers: number): Promise<Candidate> {
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 })
  const words = ['serve', '--data', join(folder, `data-${subscribers}`), '--chain', 'solana', '--development']
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile]
  const limits = ['--rate-limit', 'off', '--max-streams', String(subscribers), '--drain', '0']
  const child = spawn(
    process.execPath,
    [...process.execArgv, siblingOf('../../src/main.ts'), ...words, ...ports, ...limits],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const [port, publishPort] = await reportedPorts(child, child.stderr, 2)
  return {
    name: 'Daybook',
    pid: pidOf(child),
    port: port ?? 0,
    subscribe: getOf('/api/v1/stream?after=0'),
    publishPort: publishPort ?? 0,
    publishHead: postOf(
      '/publish',
      `Authorization: Bearer ${TOKEN}\r\nContent-Type: application/x-ndjson\r\n`,
    ),
    takes: 'drafts',
    [Symbol.asyncDispose]: () => stopped(child),
  }
}

async function startListening(
  name: CandidateName,
  program: string,
  words: readonly string[],
): Promise<Candidate> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port = 0] = await reportedPorts(child, child.stdout, 1)
  return peer(name, child, pidOf(child), port)
}

/** Uses one worker, because one thread serves Daybook's streams. Keeps messages, so that no subscriber misses one. */
async function startNchan(folder: string, subscribers: number): Promise<Candidate | null> {
  if (!existsSync(NCHAN)) return null
  const prefix = join(folder, 'nginx')
  mkdirSync(prefix, { recursive: true })
  const port = await freePort()
  const config = join(prefix, `nginx-${subscribers}.conf`)
  writeFileSync(config, nchanConfig(port, subscribers))
  let child: ChildProcess
  try {
    child = spawn('nginx', ['-p', prefix, '-c', config, '-e', 'stderr'], {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    await once(child, 'spawn')
  } catch {
    return null
  }
  await connectable(port)
  const workers = execFileSync('cat', [`/proc/${child.pid}/task/${child.pid}/children`]).toString()
  return peer('nchan', child, Number(workers.trim().split(' ')[0]), port)
}

function nchanConfig(port: number, subscribers: number): string {
  return `load_module ${NCHAN};
daemon off;
worker_processes 1;
worker_rlimit_nofile ${2 * subscribers + NGINX_CONNECTIONS};
pid nginx.pid;
error_log stderr error;
# Above the need, because nginx closes idle connections when less than a sixteenth is free.
events { worker_connections ${2 * subscribers + NGINX_CONNECTIONS}; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  keepalive_requests 1000000000;
  keepalive_timeout 3600s;
  tcp_nodelay on;
  nchan_shared_memory_size 256M;
  nchan_message_buffer_length 20000;
  nchan_message_timeout 10m;
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location = /publish { nchan_publisher; nchan_channel_id bench; client_body_in_single_buffer on; }
    location = /subscribe { nchan_subscriber eventsource; nchan_channel_id bench; nchan_subscriber_first_message newest; }
  }
}
`
}

function peer(name: CandidateName, child: ChildProcess, pid: number, port: number): Candidate {
  return {
    name,
    pid,
    port,
    subscribe: getOf('/subscribe'),
    publishPort: port,
    publishHead: postOf('/publish', 'Content-Type: text/plain\r\n'),
    takes: 'lines',
    [Symbol.asyncDispose]: () => stopped(child),
  }
}

function getOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`
}

function postOf(path: string, headers: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}`
}

/** Reads the ports that a process reports; throws its output when it ends or is late. */
async function reportedPorts(
  child: ChildProcess,
  output: Readable,
  count: number,
): Promise<readonly number[]> {
  const said: string[] = []
  const ports: number[] = []
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  for await (const line of createInterface({ input: output })) {
    said.push(line)
    for (const [, port] of line.matchAll(/ on http:\/\/127\.0\.0\.1:(\d+)/g)) ports.push(Number(port))
    if (ports.length < count) continue
    clearTimeout(late)
    // Drops the rest of the output, so that a full pipe never blocks the process.
    output.resume()
    return ports
  }
  clearTimeout(late)
  throw new Error(`${child.spawnfile} did not start: ${said.join('\n')}`)
}

async function connectable(port: number): Promise<void> {
  for (let attempt = 0; attempt < PORT_TRIES; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const reached = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (reached) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`nothing listens on port ${port}`)
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  child.kill('SIGTERM')
  await exit
  clearTimeout(late)
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('a process that was started has an id')
  return pid
}

function siblingOf(name: string): string {
  return new URL(name, import.meta.url).pathname
}
