import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { storePath } from '../../src/log/store/store.ts'
import { openServerPair, type ServerPair, type Slot } from './campaign/server-pair.ts'
import { DATABASE, makeTable, ROLE } from './campaign/table-form.ts'
import { until } from '../processes/other-program.ts'
import { run } from '../stage/command-stage.ts'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { ROOT } from '../stage/places.ts'
import { type FaultRelay, openFaultRelay } from '../torture/history/fault-relay.ts'
import type { Cause } from '../alerts/rule-test.ts'
import { type Scrape, scrape } from '../alerts/scrape.ts'

/** Time between two scrapes. */
const SCRAPE_MS = 200
const FAULTS = join(ROOT, 'test', 'crash', 'faults.ts')
const SLOTS: readonly Slot[] = [0, 1]
/** Rows that the alert about the lag forgives. */
const LAG_ROWS = 100
/** Wrong by more than a second. From five seconds on the node would not lead. */
const CLOCK_AHEAD_MS = 3_000
/** A leader measures the clocks every ten seconds. */
const MEASURED_MS_MAX = 40_000

/** A log on a table, and its two nodes: the one that leads, and the one that follows. */
type Pair = Readonly<{
  servers: ServerPair
  relays: readonly FaultRelay[]
  /** Folder of the faults of the leader. */
  faults: string
  leader: NodeProcess
  follower: NodeProcess
  followerData: string
}>

/** Causes that two nodes of a log meet. They reach the servers of their database through relays. */
export async function openCauses(): Promise<readonly Cause[]> {
  await using stack = new AsyncDisposableStack()
  // The user of the servers must get at it.
  const folder = mkdtempSync(join(tmpdir(), 'daybook-cluster-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const pair = await openPair(folder, stack)
  const { relays, leader, follower } = pair
  const healthy = await scrapeUntil(leader.publishUrl, 'daybook_log_leads', (leads) => leads === 1)
  const follows = await scrapeUntil(follower.publishUrl, 'daybook_log_leads', (leads) => leads === 0)

  const behind = await lockedStore(pair)
  await follower.end('SIGKILL')
  for (const relay of relays) relay.stall('both')
  const away = await scrapeUntil(leader.publishUrl, 'daybook_log_table_away', (isAway) => isAway === 1)
  const leaderless = await scrapeUntil(leader.publishUrl, 'daybook_log_leads', (leads) => leads === 0)
  for (const relay of relays) relay.heal()
  await scrapeUntil(leader.publishUrl, 'daybook_log_leads', (leads) => leads === 1)
  const off = await wrongClock(pair)
  const stopped = await foreignRow(pair)
  return [
    {
      alert: 'DaybookLogBehind',
      by: 'a store that another program locks',
      healthy: follows,
      ailing: [behind],
    },
    { alert: 'DaybookTableAway', by: 'a network that carries nothing', healthy, ailing: [away] },
    { alert: 'DaybookNoLeader', by: 'a database that no node reaches', healthy, ailing: [leaderless] },
    { alert: 'DaybookTableClock', by: 'a clock three seconds ahead', healthy, ailing: [off] },
    { alert: 'DaybookLogStopped', by: 'a row that no node has signed', healthy, ailing: [stopped] },
    {
      alert: 'DaybookCannotPublish',
      by: 'a node that follows',
      healthy: follows,
      ailing: [follows],
      isNone: true,
    },
  ]
}

async function openPair(folder: string, stack: AsyncDisposableStack): Promise<Pair> {
  const servers = stack.use(await openServerPair(folder))
  await makeTable(servers)
  const first = join(folder, 'a')
  // Its key is beside it, for both nodes.
  const made = await startNode(first)
  assert.equal((await made.end('SIGTERM')).code, 0, made.stderr())
  const moved = await run(['cluster', 'move', '--data', first, '--log-store', urlOf(portsOf(servers))])
  assert.equal(moved.code, 0, moved.stderr)
  const relays = await Promise.all(SLOTS.map((slot) => openFaultRelay(() => servers.port(slot))))
  for (const relay of relays) stack.use(relay)

  const faults = join(folder, 'faults')
  mkdirSync(faults)
  const faulty = ['env', `NODE_OPTIONS=--import=${FAULTS}`, `FAULTS_OF_TEST=${faults}`]
  const url = urlOf(relays.map(({ port }) => port))
  const start = async (data: string, wrapper: readonly string[]): Promise<NodeProcess> => {
    const words = ['--log-store', url, '--signing-key-file', `${first}.key`]
    const node = await startNode(data, words, wrapper, 'cluster')
    stack.defer(async () => void (await node.end('SIGKILL')))
    return node
  }
  const leader = await start(first, faulty)
  await until('the first node leads', () => isReadyToPublish(leader))
  const followerData = join(folder, 'b')
  const follower = await start(followerData, [])
  return { servers, relays, faults, leader, follower, followerData }
}

/** Another program keeps the store of the follower locked, while the leader publishes. */
async function lockedStore({ leader, follower, followerData }: Pair): Promise<Scrape> {
  using lock = new DatabaseSync(storePath(followerData))
  lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
  for (let count = 0; count <= LAG_ROWS; count += 1) {
    const draft = { ref: `late-${count}`, type: 'trade', kind: 'buy', kots: '1' }
    assert.equal((await leader.publish([draft])).status, 200)
  }
  return await scrapeUntil(follower.publishUrl, 'daybook_log_lag_rows', (lag) => lag > LAG_ROWS)
}

/** Sets the clock of all threads of the leader. */
async function wrongClock({ faults, leader }: Pair): Promise<Scrape> {
  writeFileSync(join(faults, 'clock.new'), String(CLOCK_AHEAD_MS))
  renameSync(join(faults, 'clock.new'), join(faults, 'clock'))
  const name = 'daybook_log_clock_offset_seconds'
  return await scrapeUntil(leader.publishUrl, name, (seconds) => seconds < -1, MEASURED_MS_MAX)
}

/** The owner of the table appends what no node has signed. */
async function foreignRow({ servers, leader }: Pair): Promise<Scrape> {
  await servers.sqlIn(
    DATABASE,
    "INSERT INTO public.daybook_log (place, body) SELECT max(place) + 1, 'foreign' FROM public.daybook_log",
  )
  return await scrapeUntil(leader.publishUrl, 'daybook_log_stopped', (isStopped) => isStopped === 1)
}

async function isReadyToPublish({ publishUrl }: NodeProcess): Promise<boolean> {
  return (await fetch(`${publishUrl}/readyz?for=publish`)).ok
}

function portsOf(servers: ServerPair): readonly number[] {
  return SLOTS.map((slot) => servers.port(slot))
}

function urlOf(ports: readonly number[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://${ROLE}@${hosts}/${DATABASE}?sslmode=disable`
}

/** Scrapes a node once a series is as wanted. */
async function scrapeUntil(
  publishUrl: string,
  wanted: string,
  isWanted: (value: number) => boolean,
  limitMs?: number,
): Promise<Scrape> {
  let found: Scrape = { atMs: 0, series: null }
  const holds = async (): Promise<boolean> => {
    await sleep(SCRAPE_MS)
    found = await scrape(publishUrl)
    return found.series?.some(({ name, value }) => name === wanted && isWanted(value)) === true
  }
  await until(`${wanted} is as wanted`, holds, limitMs)
  return found
}
