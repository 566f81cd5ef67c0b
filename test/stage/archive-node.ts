import { openRequestIds } from '../../src/serve/http/problem-document.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { type Appender, openAppender } from '../../src/log/append.ts'
import { openReader } from '../../src/log/open-reader.ts'
import type { LogReader } from '../../src/log/store/reader.ts'
import { createStore, openForWriting, storePath } from '../../src/log/store/store.ts'
import { parsePrice } from '../../src/protocol/amount.ts'
import { HOUR_MS, MINUTE_MS, msOf } from '../../src/protocol/moment.ts'
import { archiveRoutes } from '../../src/serve/archive/archive-routes.ts'
import { openPresentEtag } from '../../src/serve/http/etag.ts'
import { openMetrics } from '../../src/serve/metrics/metrics.ts'
import { openAnswerCache } from '../../src/serve/request/answer-cache.ts'
import { openRouter } from '../../src/serve/http/router.ts'
import { CONNECTIONS_MAX, KEEP_ALIVE_MS, start } from '../../src/serve/server.ts'
import { fetchDescribed } from './described.ts'
import { parquetIn } from '../parquet/parquet-in.ts'
import { testSigner } from '../story/signing.ts'

/** A log and a server of its archive, on a free local port. */
export type ArchiveNode = AsyncDisposable &
  Readonly<{
    directory: string
    /** Address of the archive. */
    base: string
    log: LogReader
    appender: Appender
    /** Errors that the server reported. */
    reports: unknown[]
    get(name: string, headers?: Record<string, string>, method?: string): Promise<Response>
    bytesOf(name: string): Promise<Buffer>
  }>

/** Publishes prices. They have details, so both files of a month have lines. */
export function publish(appender: Appender, moments: readonly number[]): void {
  const price = parsePrice('0.012345678901')
  assert.ok(price !== undefined)
  appender.begin()
  for (const at of moments) {
    appender.append(
      {
        ref: null,
        atMs: msOf(at),
        type: 'price',
        kind: 'usd',
        contestId: null,
        kots: null,
        tx: null,
        details: { price },
      },
      null,
      msOf(at),
    )
  }
  appender.write()
  appender.commit()
}

/** Opens the node on a temporary directory. `commits` has the moments of the events of each commit. */
export async function openArchiveNode(commits: readonly (readonly number[])[]): Promise<ArchiveNode> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-archive-'))
  createStore(storePath(directory), { origin: 'daybook.example/log', chain: 'opaque', simulated: false })
  const db = openForWriting(storePath(directory))
  const appender = openAppender(db, testSigner(db))
  for (const moments of commits) publish(appender, moments)
  const log = openReader(directory, null)
  const reports: unknown[] = []
  const server = await start(
    {
      host: '127.0.0.1',
      port: 0,
      reusePort: false,
      keepAliveMs: KEEP_ALIVE_MS,
      connectionsMax: CONNECTIONS_MAX,
      drainMs: 100,
      connections: null,
    },
    {
      identity: log.identity,
      mirrorOf: null,
      licence: null,
      requestIds: openRequestIds('t'),
      router: openRouter(archiveRoutes(log, openPresentEtag(log.identity.id, 'test'), parquetIn(directory))),
      cache: openAnswerCache(() => ''),
      answer: () => Promise.reject(new Error('every answer of the archive is brief')),
      callerOf: () => '127.0.0.1',
      counters: null,
      unready: () => undefined,
      following: null,
      now: () => msOf(Date.UTC(2026, 10, 21)),
      monotonicMs: () => performance.now(),
      problemBase: '/problems/',
      metrics: openMetrics(new Registry()),
      report: {
        all: false,
        answered: ({ error }) => error === null || reports.push(error),
        cut: () => undefined,
      },
    },
  )
  const base = `http://127.0.0.1:${server.port}/api/v1/archive`
  const get: ArchiveNode['get'] = (name, headers, method = 'GET') =>
    fetchDescribed(`${base}${name}`, { method, headers: { 'accept-encoding': 'identity', ...headers } })
  return {
    directory,
    base,
    log,
    appender,
    reports,
    get,
    bytesOf: async (name) => Buffer.from(await (await get(name)).arrayBuffer()),
    async [Symbol.asyncDispose]() {
      await server.drain()
      log.close()
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** `count` moments from `fromMs` on, `stepMs` apart. */
export function every(stepMs: number, count: number, fromMs: number): number[] {
  return Array.from({ length: count }, (_, index) => fromMs + index * stepMs)
}

/** August: two days. September: 12,000 events over three segments. October: none. November: open. */
export const FOUR_MONTHS: readonly (readonly number[])[] = [
  every(HOUR_MS, 48, Date.UTC(2026, 7, 30)),
  every(MINUTE_MS, 12_000, Date.UTC(2026, 8, 1)),
  every(MINUTE_MS, 300, Date.UTC(2026, 10, 1)),
]
