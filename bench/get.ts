import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openReader } from '../src/log/open-reader.ts'
import type { Snapshot } from '../src/log/store/reader.ts'
import { storePath } from '../src/log/store/store.ts'
import { seqOf } from '../src/protocol/seq.ts'
import { bigStore } from './stage/big-store.ts'
import { cpuMicroseconds } from './get/get-cpu.ts'
import { CALLERS, load, type Target } from './get/get-load.ts'
import { nginxPeer, nodePeer, type Peer, postgresPeer, prepare, type Prepared } from './get/get-peers.ts'
import { share } from './stage/measure.ts'
import { benchSettings, sayBuilding, SMALL_EVENTS, table, thousands } from './stage/report.ts'
import { type BenchService, startBenchService } from './stage/service.ts'

/** Measures the processor time of an answer (an event, a page), and that of other servers for the same bytes. */

/** Slices of each candidate, in turns. The first is not counted. */
const SLICES = 9
/** Processor time of one slice. It is long in comparison with the clock tick of 10 ms. */
const SLICE_US = 400_000
const WARM_UP_REQUESTS = 2_000
const EVENTS = 1_000
const PAGES = 20
const PAGE_EVENTS = 1_000
/** The largest rate limit, so that every request is counted and none is refused. */
const RATE_LIMIT = '10000'

const { store, events } = benchSettings(join(tmpdir(), 'daybook-bench'))
const data = bigStore(store, events, sayBuilding(events))
process.stdout.write(`${await gets()}\n`)

async function gets(): Promise<string> {
  await using plain = await startBenchService(data)
  const loadBefore = loadavg()[0] ?? 0
  const rows = [...(await smallRows(plain)), ...(await pageRows(plain)), ...(await onceRows(plain))]
  return [
    `## The cost of an answer, on a log of ${thousands(events)} events`,
    '',
    `Microseconds of processor time per request, user and system of all of a server's threads and processes: the median of ${SLICES} slices of ${SLICE_US / 1000} ms each, by turns. ${CALLERS} callers, each with an address of its own, ask over a connection that is kept, one request at a time; the load's own time is not counted. Every body was compared with the log's own lines. Ratio: Daybook's cost over the peer's in the same turn, the median. ${thousands(EVENTS)} different events and ${PAGES} different pages are asked again and again; "each once" asks none twice, so that all come from the store. Load of the machine ${loadBefore.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end.`,
    '',
    table(['one answer', 'CPU µs', 'Daybook is', 'goal', 'held'], rows),
    '',
  ].join('\n')
}

type Row = string[]

/** Copies the store, because one data directory has one service. The allowance costs the same on any log. */
function smallCopy(): Disposable & Readonly<{ data: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-get-'))
  const copy = join(directory, 'data')
  const small = bigStore(store, SMALL_EVENTS, () => undefined)
  mkdirSync(copy)
  copyFileSync(storePath(small), storePath(copy))
  copyFileSync(`${small}.key`, `${copy}.key`)
  return { data: copy, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) }
}

async function smallRows(service: BenchService): Promise<readonly Row[]> {
  const hot = asked(hotEvents(events))
  const prepared: Prepared[] = []
  // In sequence, because one address may have 256 connections at most.
  for (const { path } of hot) prepared.push(await prepare(service.port, path))
  await using bare = await nodePeer('bare', prepared)
  await using nginx = await nginxPeer(prepared)
  await using fastify = await nodePeer('fastify', prepared)
  using copy = smallCopy()
  await using limited = await startBenchService(copy.data, RATE_LIMIT)
  const ours = candidate('event, Daybook', service, hot)
  return await compare(ours, [
    { ...candidate('… with an allowance', limited, asked(hotEvents(SMALL_EVENTS), copy.data)), goal: null },
    { ...peer('… bare node:http', bare, hot), goal: 1.15 },
    { ...peer('… nginx, a file', nginx, hot), goal: 2.5 },
    { ...peer('… Fastify, a schema', fastify, hot), goal: 0.65 },
  ])
}

async function pageRows(service: BenchService): Promise<readonly Row[]> {
  const hot = asked(Array.from({ length: PAGES }, (_, index) => pageOf(index * PAGE_EVENTS)))
  const prepared: Prepared[] = []
  for (const { path } of hot) prepared.push(await prepare(service.port, path))
  await using nginx = await nginxPeer(prepared)
  await using rows = await postgresPeer(prepared)
  const ours = candidate('page of 1,000, Daybook', service, hot)
  return await compare(ours, [
    { ...peer('… nginx, a file', nginx, hot), goal: 1.5 },
    { ...peer('… Fastify, rows of PostgreSQL', rows, hot), goal: 0.1 },
  ])
}

/** Runs last and alone, because it fills the service's memory, which the peers do not have to do. */
async function onceRows(service: BenchService): Promise<readonly Row[]> {
  return [
    ...(await compare(candidate('event, each once', service, oneByOne(eventOf)), [])),
    ...(await compare(candidate('page of 1,000, each once', service, oneByOne(pageOf)), [])),
  ]
}

type Candidate = Readonly<{
  name: string
  /** Undefined if not installed. */
  server: Readonly<{ port: number; pids: readonly number[] }> | undefined
  /** Targets of this many requests. A shorter list is repeated. */
  targets: (requests: number) => readonly Target[]
}>

function candidate(
  name: string,
  { port, pid }: BenchService,
  wanted: readonly Target[] | Candidate['targets'],
): Candidate {
  const of = typeof wanted === 'function' ? wanted : () => wanted
  return { name, server: { port, pids: [pid] }, targets: of }
}

function peer(name: string, server: Peer | undefined, wanted: readonly Target[]): Candidate {
  return { name, server, targets: () => wanted }
}

/** Rows of Daybook's cost and of each peer's. A goal is the largest allowed ratio of Daybook's cost to the peer's. */
async function compare(
  ours: Candidate,
  others: readonly (Candidate & Readonly<{ goal: number | null }>)[],
): Promise<readonly Row[]> {
  const all = [ours, ...others]
  const requests: number[] = []
  for (const one of all) requests.push(await requestsOfSlice(one))
  const costs = all.map((): number[] => [])
  for (let slice = 0; slice < SLICES; slice++) {
    for (const [index, one] of all.entries()) costs[index]?.push(await costOf(one, requests[index] ?? 0))
  }
  return all.map((one, index): Row => {
    const goal = 'goal' in one && typeof one.goal === 'number' ? one.goal : null
    if (one.server === undefined) return [one.name, 'not installed', '', goal === null ? '' : `≤ ${goal}`, '']
    const cost = share(costs[index] ?? [], 0.5)
    if (index === 0) return [one.name, cost.toFixed(1), '', '', '']
    const ratio = share(
      (costs[index] ?? []).map((theirs, slice) => (costs[0]?.[slice] ?? 0) / theirs),
      0.5,
    )
    const verdict = goal === null ? ['', ''] : [`≤ ${goal}`, ratio <= goal ? 'OK' : 'OVER']
    return [one.name, cost.toFixed(1), `${ratio.toFixed(ratio < 0.2 ? 3 : 2)} ×`, ...verdict]
  })
}

/** Number of requests that fills a slice. Finding it also warms up the server. */
async function requestsOfSlice(one: Candidate): Promise<number> {
  let cost = 0
  for (
    let requests = CALLERS * 4;
    requests <= WARM_UP_REQUESTS || cost * requests < SLICE_US / 2;
    requests *= 2
  ) {
    cost = await costOf(one, requests)
    if (one.server === undefined || cost * requests > 2 * SLICE_US) break
  }
  return Math.max(CALLERS, Math.round(SLICE_US / Math.max(cost, 1)))
}

/** Microseconds of processor time per request. */
async function costOf({ server, targets }: Candidate, requests: number): Promise<number> {
  if (server === undefined) return 0
  const cpu = (): number => server.pids.reduce((sum, pid) => sum + cpuMicroseconds(pid), 0)
  const wanted = targets(requests)
  const began = cpu()
  await load(server.port, wanted, requests)
  return (cpu() - began) / requests
}

/** Target made from the log's lines, with the expected body. */
type Wanted = (snapshot: Snapshot) => Target

function eventOf(seq: number): Wanted {
  return (snapshot) => ({
    path: `/api/v1/events/${seq}`,
    body: Buffer.from(snapshot.line(seqOf(seq)) ?? ''),
  })
}

function pageOf(after: number): Wanted {
  const to = after + PAGE_EVENTS
  const filter = { types: null, kinds: null, contestIds: null, nonzero: false }
  const walk = { filter, tx: null, order: 'asc', limit: PAGE_EVENTS, examineMax: PAGE_EVENTS } as const
  const page = { after, limit: PAGE_EVENTS, count: PAGE_EVENTS, scannedTo: to, hasMore: true }
  return (snapshot) => {
    const { bytes } = snapshot.walk({ ...walk, after: seqOf(after), before: seqOf(to + 1) }, 'ndjson')
    const lines = Buffer.from(bytes).toString().trimEnd().split('\n')
    const tail = JSON.stringify({ ...page, next: `/api/v1/events?after=${to}` })
    return {
      path: `/api/v1/events?after=${after}`,
      body: Buffer.from(`{"events":[${lines.join(',')}],"page":${tail}}`),
    }
  }
}

function hotEvents(of: number): readonly Wanted[] {
  return Array.from({ length: EVENTS }, (_, index) => eventOf(1 + index * Math.floor(of / EVENTS)))
}

function asked(wanted: readonly Wanted[], directory: string = data): readonly Target[] {
  const reader = openReader(directory, null)
  try {
    return reader.snapshot((snapshot) => wanted.map((one) => one(snapshot)))
  } finally {
    reader.close()
  }
}

/**
 * Gives different targets at each call. The step shares no factor with the number of places, so it reaches each once.
 */
function oneByOne(of: (place: number) => Wanted): (requests: number) => readonly Target[] {
  const places = events - 2 * PAGE_EVENTS
  const step = 7919
  let drawn = 0
  return (requests) => asked(Array.from({ length: requests }, () => of(1 + ((drawn++ * step) % places))))
}
