import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeProcess, startNode } from '../stage/node-process.ts'
import { ROOT } from '../stage/places.ts'
import type { Cause } from './rule-test.ts'
import { type Scrape, scrape } from './scrape.ts'

const FAULTS = join(ROOT, 'test', 'crash', 'faults.ts')
/** Longest file of the service whose disk is full. */
const FILE_BYTES = 3_000_000
const DRAFTS = 60
/** Open files of the service that lacks them. It gives half of them to connections, and needs some 50 itself. */
const OPEN_FILES = 115
const CLOCK_MS_MAX = 10_000

const drafts = (first: number): readonly object[] =>
  Array.from({ length: DRAFTS }, (_, index) => ({
    ref: `ref-${first + index}`,
    type: 'trade',
    kind: 'buy',
    kots: '1',
    tx: `tx:${first + index}:`.padEnd(128, '-'),
  }))

/** Causes that a process meets, which starts again for each on the same data directory. */
export async function nodeCauses(folder: string): Promise<readonly Cause[]> {
  const data = join(folder, 'data')
  const lives: Scrape[] = []
  const causes: Cause[] = []

  /** Runs the service, gathers the causes, and ends it. */
  async function live(
    wrapper: readonly string[],
    meet: (node: NodeProcess, healthy: Scrape) => Promise<readonly Cause[]>,
  ): Promise<void> {
    const node = await startNode(data, [], wrapper)
    try {
      const healthy = await scrape(node.publishUrl)
      lives.push(healthy)
      causes.push(...(await meet(node, healthy)))
    } finally {
      await node.end('SIGKILL')
    }
  }

  const faults = join(folder, 'faults')
  mkdirSync(faults)
  const faulty = ['env', `NODE_OPTIONS=--import=${FAULTS}`, `FAULTS_OF_TEST=${faults}`]
  await live(['prlimit', `--fsize=${FILE_BYTES}:unlimited`], fullDisk)
  await live(['prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`], fewFiles)
  await live(faulty, (node, healthy) => steppedClock(node, healthy, faults))
  await live([], async () => [])
  const [healthy, ...again] = lives
  assert.ok(healthy !== undefined)
  return [...causes, { alert: 'DaybookRestarts', by: 'three restarts', healthy, ailing: again, hours: 1 / 4 }]
}

async function fullDisk(node: NodeProcess, healthy: Scrape): Promise<readonly Cause[]> {
  let first = 1
  for (;;) {
    const { status } = await node.publish(drafts(first))
    if (status === 507) break
    assert.equal(status, 200)
    first += DRAFTS
  }
  const ailing = [await scrape(node.publishUrl)]
  const by = 'a full disk'
  return [
    { alert: 'DaybookDiskFull', by, healthy, ailing },
    { alert: 'DaybookCannotPublish', by, healthy, ailing },
  ]
}

async function fewFiles(node: NodeProcess, healthy: Scrape): Promise<readonly Cause[]> {
  const sockets: Socket[] = []
  const port = Number(new URL(node.url).port)
  const closed: Promise<unknown>[] = []
  for (let count = 0; count < OPEN_FILES; count += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    closed.push(once(socket.resume(), 'close'))
    sockets.push(socket)
  }
  // The service closes those over its limit.
  await Promise.race(closed)
  const ailing = [await scrape(node.publishUrl)]
  for (const socket of sockets) socket.destroy()
  const by = 'more connections than the open files allow'
  return [
    { alert: 'DaybookDropsConnections', by, healthy, ailing },
    { alert: 'DaybookFewOpenFiles', by, healthy, ailing },
  ]
}

async function steppedClock(node: NodeProcess, healthy: Scrape, faults: string): Promise<readonly Cause[]> {
  writeFileSync(join(faults, 'step-clock-writer'), '')
  const limit = performance.now() + CLOCK_MS_MAX
  while ((await fetch(`${node.publishUrl}/readyz?for=publish`)).ok) {
    assert.ok(performance.now() < limit, 'the wrong clock is noticed')
    await sleep(10)
  }
  const ailing = [await scrape(node.publishUrl)]
  return [{ alert: 'DaybookClockWrong', by: 'a clock that was set two hours ahead', healthy, ailing }]
}
