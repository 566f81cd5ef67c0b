import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { storePath } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/guards/shared-clock.ts'
import { openFaultRelay } from '../torture/history/fault-relay.ts'
import { startNatsRig } from '../engine/nats-rig.ts'
import type { NodeProcess } from '../stage/node-process.ts'
import { ROOT } from '../stage/places.ts'
import { openWritersStage } from '../writers/writers-stage.ts'
import { until } from '../processes/other-program.ts'
import type { Cause } from './rule-test.ts'
import type { Scrape } from './scrape.ts'
import { scrape } from './scrape.ts'

/** Time between two scrapes. */
const SCRAPE_MS = 200
const FAULTS = join(ROOT, 'test', 'crash', 'faults.ts')

/** Causes that two writers of a log meet. They reach their brokers through relays. */
export async function clusterCauses(): Promise<readonly Cause[]> {
  await using stack = new AsyncDisposableStack()
  const rig = stack.use(await startNatsRig())
  const relays = await Promise.all(
    rig.brokers.map(({ url }) => openFaultRelay(() => Number(url.split(':')[1]))),
  )
  for (const relay of relays) stack.use(relay)
  const engine = {
    url: `nats://${relays.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    credentials: rig.running,
    makeStream: () => rig.make(1),
    connect: () => rig.open(1),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const writers = stack.use(await openWritersStage(engine, 'opaque'))
  const faults = join(writers.folder, 'faults')
  mkdirSync(faults)
  const faulty = ['env', `NODE_OPTIONS=--import=${FAULTS}`, `FAULTS_OF_TEST=${faults}`]
  const clock = openSharedClock()
  clock.set(msOf(Date.now()))
  const [here, node] = await Promise.all([writers.startLocal('a', clock), writers.start('b', faulty)])
  stack.use(here)
  stack.defer(async () => void (await node.end('SIGKILL')))
  const a = `http://127.0.0.1:${here.publishPort}`
  const healthyA = await scrapeUntil(a, 'daybook_writers_heard', (heard) => heard === 1)
  const healthy = await scrapeUntil(node.door, 'daybook_ready{check="accepting_publishes"}', (is) => is === 1)

  const late = await lockedStore(a, join(writers.folder, 'a'), node)
  await here[Symbol.asyncDispose]()
  // A writer that still asks for the one that left would not append at all.
  await until('b publishes alone', async () => (await publish(node, 'alone')) === 200)
  for (const relay of relays) relay.stall('both')
  const sent = publish(node, 'unsettled')
  const unsettled = await scrapeUntil(node.door, 'daybook_append_unsettled_seconds', (seconds) => seconds > 2)
  for (const relay of relays) relay.heal()
  assert.equal(await sent, 200)
  writeFileSync(join(faults, 'step-clock-writer'), '')
  const off = await scrapeUntil(node.door, 'daybook_engine_clock_offset_seconds', (seconds) => seconds < -1)
  const silent = await scrapeUntil(node.door, 'daybook_writers_silent', (count) => count === 1)
  await using connection = await rig.open(1)
  const place = (await connection.log.last()) + 1
  assert.equal(await connection.log.append(place, Buffer.from('foreign')), 'appended')
  const stopped = await scrapeUntil(node.door, 'daybook_void_total', (count) => count === 1)
  return [
    { alert: 'WriterLags', by: 'a store that another program locks', healthy: healthyA, ailing: [late] },
    { alert: 'CommitUnsettled', by: 'a network that carries nothing', healthy, ailing: [unsettled] },
    { alert: 'EngineClockOff', by: 'a clock two hours ahead', healthy, ailing: [off] },
    { alert: 'WriterSilent', by: 'a writer that has ended', healthy, ailing: [silent] },
    { alert: 'VoidMessage', by: 'bytes that no node has signed', healthy, ailing: [stopped] },
  ]
}

/** Another program keeps the store of a writer locked, while the other writer publishes. */
async function lockedStore(door: string, data: string, other: NodeProcess): Promise<Scrape> {
  using lock = new DatabaseSync(storePath(data))
  lock.exec('BEGIN IMMEDIATE')
  assert.equal(await publish(other, 'late'), 200)
  return await scrapeUntil(door, 'daybook_log_lag_commits', (lag) => lag > 0)
}

async function publish(node: NodeProcess, ref: string): Promise<number> {
  return (await node.publish([{ ref, type: 'trade', kind: 'buy', kots: '1' }])).status
}

/** Scrapes a writer once a series is as wanted. */
async function scrapeUntil(
  door: string,
  wanted: string,
  isWanted: (value: number) => boolean,
): Promise<Scrape> {
  let found: Scrape = { atMs: 0, series: null }
  await until(`${wanted} is as wanted`, async () => {
    await sleep(SCRAPE_MS)
    found = await scrape(door)
    const nameOf = (name: string, labels: string): string => (labels === '' ? name : `${name}{${labels}}`)
    return (
      found.series?.some(({ name, labels, value }) => nameOf(name, labels) === wanted && isWanted(value)) ===
      true
    )
  })
  return found
}
