import { openReader } from '../src/log/open-reader.ts'
import type { Snapshot } from '../src/log/store/reader.ts'
import { seqOf } from '../src/protocol/seq.ts'
import { load, type Target } from './get/get-load.ts'
import { nginxPeer, nodePeer, postgresPeer } from './get/get-peers.ts'
import { bigStore } from './stage/big-store.ts'
import { cpuMicroseconds, type Server, startService } from './stage/processes.ts'
import { benchSettings, inTurns, type Measured, report } from './stage/report.ts'

/**
 * Measures the processor time of an answer over HTTP, with all of a server's processes, and that of other servers for the
 * same bytes. The targets are asked again and again, and every body is compared.
 */

/** Processor time of one turn. It is long in comparison with the clock tick of 10 ms. */
const TURN_US = 400_000
const ROUNDS = 9
const WARM_UP_REQUESTS = 2_000
const EVENTS = 1_000
const PAGES = 20
const PAGE_EVENTS = 1_000

const { store, events } = benchSettings()
const data = bigStore(store, events)
await using service = await startService(data)
const reader = openReader(data, null)
const [small, pages] = reader.snapshot((snapshot) => [
  Array.from({ length: EVENTS }, (_, index) => eventOf(snapshot, 1 + index * Math.floor(events / EVENTS))),
  Array.from({ length: PAGES }, (_, index) => pageOf(snapshot, index * PAGE_EVENTS)),
])
reader.close()
await compare('an event', small, [
  ['bare node:http', await nodePeer('bare', service.port, small)],
  ['nginx, a file', await nginxPeer(service.port, small)],
  ['Fastify, a schema', await nodePeer('fastify', service.port, small)],
])
await compare('a page of 1,000 events', pages, [
  ['nginx, a file', await nginxPeer(service.port, pages)],
  ['Fastify, rows of PostgreSQL', await postgresPeer(service.port, pages)],
])

/** Reports Daybook's processor time for each request beside that of each peer that is installed, and ends the peers. */
async function compare(
  what: string,
  targets: readonly Target[],
  peers: readonly (readonly [name: string, server: Server | undefined])[],
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const [, server] of peers) if (server !== undefined) stack.use(server)
  const servers: readonly Server[] = [service, ...peers.flatMap(([, server]) => server ?? [])]
  const requests = new Map<Server, number>()
  for (const server of servers) requests.set(server, await requestsOfTurn(server, targets))
  const costs = await inTurns(ROUNDS, servers, (server) => costOf(server, targets, requests.get(server) ?? 0))
  const row = ([peer, server]: (typeof peers)[number]): Measured => ({
    what,
    unit: 'CPU µs',
    peer,
    ours: costs[0] ?? [],
    theirs: server === undefined ? undefined : costs[servers.indexOf(server)],
    better: 'less',
  })
  report(peers.map(row))
}

/** Number of requests that fills a turn. Finding it also warms up the server. */
async function requestsOfTurn(server: Server, targets: readonly Target[]): Promise<number> {
  let cost = 0
  for (let requests = 64; requests <= WARM_UP_REQUESTS || cost * requests < TURN_US / 2; requests *= 2) {
    cost = await costOf(server, targets, requests)
    if (cost * requests > 2 * TURN_US) break
  }
  return Math.max(16, Math.round(TURN_US / Math.max(cost, 1)))
}

/** Microseconds of processor time for each request. */
async function costOf(
  { pid, also = pid, port }: Server,
  targets: readonly Target[],
  requests: number,
): Promise<number> {
  const began = cpuMicroseconds(pid, also)
  await load(port, targets, requests)
  return (cpuMicroseconds(pid, also) - began) / requests
}

function eventOf(snapshot: Snapshot, seq: number): Target {
  return { path: `/api/v1/events/${seq}`, body: Buffer.from(snapshot.line(seqOf(seq)) ?? '') }
}

function pageOf(snapshot: Snapshot, after: number): Target {
  const to = after + PAGE_EVENTS
  const lines = Array.from({ length: PAGE_EVENTS }, (_, index) =>
    Buffer.from(snapshot.line(seqOf(after + index + 1)) ?? '').toString(),
  )
  const page = { after, limit: PAGE_EVENTS, count: PAGE_EVENTS, scannedTo: to, hasMore: true }
  const tail = JSON.stringify({ ...page, next: `/api/v1/events?after=${to}` })
  return {
    path: `/api/v1/events?after=${after}`,
    body: Buffer.from(`{"events":[${lines.join(',')}],"page":${tail}}`),
  }
}
