import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Client } from 'pg'
import type { EventWire } from '../../src/protocol/event.ts'
import { freePort } from '../../test/processes/free-ports.ts'
import { startPostgres } from '../stage/postgres.ts'

/** An answer of Daybook: its own headers, and the body as text. */
export type Prepared = Readonly<{
  path: string
  headers: readonly (readonly [string, string])[]
  body: string
}>

/** A server in separate processes. Processor time is measured over `pids`. */
export type Peer = AsyncDisposable & Readonly<{ name: string; port: number; pids: readonly number[] }>

/** Headers that a server writes by itself, for the connection or the moment. */
const OWN = new Set(['Date', 'Connection', 'Keep-Alive'])
const WAIT_MS = 10_000

/** Fetches an answer from Daybook, for the peers to serve. */
export function prepare(port: number, path: string): Promise<Prepared> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const raw = response.rawHeaders
        const headers = raw.flatMap((name, at) =>
          at % 2 === 0 && !OWN.has(name) ? [[name, raw[at + 1] ?? ''] as const] : [],
        )
        resolve({ path, headers, body: Buffer.concat(chunks).toString() })
      })
    })
      .on('error', reject)
      .end()
  })
}

/** A server on node:http or Fastify that serves the prepared answers. */
export async function nodePeer(kind: 'bare' | 'fastify', prepared: readonly Prepared[]): Promise<Peer> {
  return node(kind, prepared, [])
}

async function node(kind: string, prepared: readonly Prepared[], rest: readonly string[]): Promise<Peer> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-peer-'))
  const file = join(directory, 'answers.json')
  writeFileSync(file, JSON.stringify(prepared))
  const script = new URL('get-node.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [script, kind, file, ...rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  rmSync(directory, { recursive: true })
  return {
    name: kind,
    port: Number(line.toString()),
    pids: [pidOf(child)],
    [Symbol.asyncDispose]: () => end(child),
  }
}

/** nginx with one worker that serves the answers as files; undefined if not installed. */
export async function nginxPeer(prepared: readonly Prepared[]): Promise<Peer | undefined> {
  if (!isInstalled('nginx')) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'daybook-nginx-'))
  const root = join(directory, 'root')
  for (const { path, body } of prepared) {
    const file = join(root, fileOf(path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, body)
  }
  // The worker runs as another user than the master process, so it needs access.
  spawnSync('chmod', ['-R', 'a+rX', directory])
  const port = await freePort()
  writeFileSync(join(directory, 'nginx.conf'), nginxSettings(directory, port, prepared[0]?.headers ?? []))
  const child = spawn(
    'nginx',
    ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', join(directory, 'error.log')],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  await until(async () => (await prepare(port, prepared[0]?.path ?? '/')).body === prepared[0]?.body)
  return {
    name: 'nginx, files',
    port,
    pids: [pidOf(child)],
    async [Symbol.asyncDispose]() {
      await end(child)
      rmSync(directory, { recursive: true })
    },
  }
}

/** File of an address: `/api/v1/events?after=7` is `/api/v1/events.after.7`. */
function fileOf(path: string): string {
  return path.replace(/\?after=(\d+)$/, '.after.$1')
}

/** Settings that nginx's documentation recommends for files that do not change, with Daybook's headers. */
function nginxSettings(directory: string, port: number, headers: Prepared['headers']): string {
  const given = new Set(['Content-Type', 'Content-Length', 'ETag'])
  const added = headers
    .filter(([name]) => !given.has(name))
    .map(([name, value]) => `add_header ${name} "${value.replaceAll('"', String.raw`\"`)}";`)
  return `worker_processes 1; daemon off; pid ${directory}/pid;
events { worker_connections 512; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; server_tokens off;
  keepalive_requests 1000; open_file_cache max=4096; open_file_cache_valid 1h;
  default_type "application/json; charset=utf-8";
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path ${directory}/${part};`).join(' ')}
  server {
    listen 127.0.0.1:${port}; root ${directory}/root;
    ${added.join('\n    ')}
    location = /api/v1/events { try_files /api/v1/events.after.$arg_after =404; }
  }
}
`
}

/**
 * Fastify that reads pages from PostgreSQL; both processes are measured. Undefined if PostgreSQL 15 is not installed.
 */
export async function postgresPeer(prepared: readonly Prepared[]): Promise<Peer | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-postgres-'))
  const server = await startPostgres(directory, ['shared_buffers=128MB'])
  if (server === undefined) {
    rmSync(directory, { recursive: true })
    return undefined
  }
  await fill(server.client, prepared)
  const app = await node('fastify-postgres', prepared.slice(0, 1), [server.host])
  return {
    name: 'Fastify and PostgreSQL',
    port: app.port,
    pids: [...app.pids, server.pid],
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true })
    },
  }
}

/** Inserts the events of the pages into a table with the index that a page needs. */
async function fill(client: Client, prepared: readonly Prepared[]): Promise<void> {
  await client.query(`CREATE TABLE events (seq bigint PRIMARY KEY, type text NOT NULL, kind text NOT NULL,
    at_ms bigint NOT NULL, contest_id bigint, kots numeric(38, 9), tx text)`)
  for (const { body } of prepared) {
    const { events } = JSON.parse(body) as { events: readonly EventWire[] }
    const rows = events.map(({ seq, type, kind, atMs, contestId, kots, tx }) => {
      return { seq, type, kind, at_ms: atMs, contest_id: contestId, kots, tx }
    })
    await client.query('INSERT INTO events SELECT * FROM json_populate_recordset(NULL::events, $1)', [
      JSON.stringify(rows),
    ])
  }
  // Adds an event after the last page, so that this page has a next one.
  await client.query(`INSERT INTO events VALUES (9007199254740991, 'end', 'end', 0)`)
  await client.query('VACUUM ANALYZE events')
}

function isInstalled(command: string): boolean {
  return spawnSync(command, ['-V'], { stdio: 'ignore' }).error === undefined
}

/** Retries until it succeeds; throws the last error at the time limit. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  for (;;) {
    try {
      if (await holds()) return
    } catch (error) {
      if (performance.now() > endMs) throw error
    }
    if (performance.now() > endMs) throw new Error('a peer does not answer as it should')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('a peer did not start')
  return pid
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGINT')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
