import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { EventWire } from '../../src/protocol/event.ts'
import { freePort } from '../../test/processes/free-ports.ts'
import { startPostgres } from '../stage/postgres.ts'
import { pidOf, type Server, startServer, stop } from '../stage/processes.ts'
import type { Target } from './get-load.ts'

/** An answer of Daybook for a peer to serve: its headers, and the body as text. */
export type Prepared = Readonly<{
  path: string
  headers: readonly (readonly [string, string])[]
  body: string
}>

/** Headers that a server writes by itself, for the connection or the moment. */
const OWN = new Set(['Date', 'Connection', 'Keep-Alive'])
const WAIT_MS = 10_000

/** Fetches the answers from Daybook, one after another: one address may have 256 connections at most. */
async function prepare(port: number, targets: readonly Target[]): Promise<readonly Prepared[]> {
  const prepared: Prepared[] = []
  for (const { path } of targets) prepared.push(await fetchPrepared(port, path))
  return prepared
}

function fetchPrepared(port: number, path: string): Promise<Prepared> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
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

/** A server on node:http or Fastify that serves the answers of Daybook at a port. */
export async function nodePeer(
  kind: 'bare' | 'fastify',
  port: number,
  targets: readonly Target[],
): Promise<Server> {
  return startNodePeer(kind, await prepare(port, targets))
}

async function startNodePeer(
  kind: string,
  prepared: readonly Prepared[],
  ...rest: readonly string[]
): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-peer-'))
  const file = join(directory, 'answers.json')
  writeFileSync(file, JSON.stringify(prepared))
  const server = await startServer(process.execPath, [
    join(import.meta.dirname, 'get-servers.ts'),
    kind,
    file,
    ...rest,
  ])
  rmSync(directory, { recursive: true })
  return server
}

/** nginx with one worker that serves the answers as files; undefined if not installed. */
export async function nginxPeer(ownPort: number, targets: readonly Target[]): Promise<Server | undefined> {
  if (spawnSync('nginx', ['-V'], { stdio: 'ignore' }).error !== undefined) return undefined
  const prepared = await prepare(ownPort, targets)
  const directory = mkdtempSync(join(tmpdir(), 'daybook-nginx-'))
  for (const { path, body } of prepared) {
    // `/api/v1/events?after=7` is the file `/api/v1/events.after.7`.
    const file = join(directory, 'root', path.replace('?after=', '.after.'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, body)
  }
  // The worker runs as another user than the master process, so it needs access.
  spawnSync('chmod', ['-R', 'a+rX', directory])
  const port = await freePort()
  const settings = join(directory, 'nginx.conf')
  writeFileSync(settings, nginxSettings(directory, port, prepared[0]?.headers ?? []))
  const words = ['-p', directory, '-c', settings, '-e', join(directory, 'error.log')]
  const child = spawn('nginx', words, { stdio: ['ignore', 'inherit', 'inherit'] })
  const [path = '', body] = [prepared[0]?.path, prepared[0]?.body]
  for (const began = performance.now(); ; await sleep(50)) {
    const found = await fetchPrepared(port, path).catch(() => undefined)
    if (found?.body === body) break
    if (performance.now() - began > WAIT_MS) throw new Error('nginx does not answer as it should')
  }
  return {
    port,
    pid: pidOf(child),
    async [Symbol.asyncDispose]() {
      await stop(child)
      rmSync(directory, { recursive: true })
    },
  }
}

/** Settings that nginx's documentation recommends for files that do not change, with Daybook's headers. */
function nginxSettings(directory: string, port: number, headers: Prepared['headers']): string {
  const given = new Set(['Content-Type', 'Content-Length', 'ETag'])
  const added = headers
    .filter(([name]) => !given.has(name))
    .map(([name, value]) => `add_header ${name} "${value.replaceAll('"', String.raw`\"`)}";`)
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (part) => `${part}_temp_path ${directory}/${part};`,
  )
  return `worker_processes 1; daemon off; pid ${directory}/pid;
events { worker_connections 512; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; server_tokens off;
  keepalive_requests 1000; open_file_cache max=4096; open_file_cache_valid 1h;
  default_type "application/json; charset=utf-8";
  ${folders.join(' ')}
  server {
    listen 127.0.0.1:${port}; root ${directory}/root;
    ${added.join('\n    ')}
    location = /api/v1/events { try_files /api/v1/events.after.$arg_after =404; }
  }
}
`
}

/** Fastify that reads pages from PostgreSQL; both are measured. Undefined if PostgreSQL is not installed. */
export async function postgresPeer(ownPort: number, targets: readonly Target[]): Promise<Server | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-postgres-'))
  const server = await startPostgres(directory, ['shared_buffers=128MB'])
  if (server === undefined) {
    rmSync(directory, { recursive: true })
    return undefined
  }
  const prepared = await prepare(ownPort, targets)
  await fill(server.client, prepared)
  const app = await startNodePeer('fastify-postgres', prepared.slice(0, 1), server.host)
  return {
    port: app.port,
    pid: app.pid,
    also: server.pid,
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
  // An event after the last page, so that this page has a next one.
  await client.query(`INSERT INTO events VALUES (9007199254740991, 'end', 'end', 0)`)
  await client.query('VACUUM ANALYZE events')
}
