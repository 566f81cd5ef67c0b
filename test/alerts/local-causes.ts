import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../../src/command/service/service.ts'
import { writeLastBackup } from '../../src/log/backup/last-backup.ts'
import { storePath } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock, type SharedClock } from '../../src/publish/writer/shared-clock.ts'
import { LOCAL_TOKEN, postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { openClient, type StreamClient, until } from '../stage/stream-client.ts'
import { TEST_KEY } from '../story/signing.ts'
import type { Cause } from './rule-test.ts'
import { type Scrape, scrape } from './scrape.ts'

const DAY_MS = 86_400_000
const NEW_LOG = { origin: 'daybook.test/alerts', chain: 'opaque', simulated: false } as const
const STREAMS_MAX = 5
/** More requests in a minute than these causes need, except for the last one. */
const RATE_LIMIT = 20
/** Longer than a second, which the alerts about slowness allow. */
const SLOW_MS = 1_200
/** Longer than a delay of the main thread that the alert allows. */
const BUSY_MS = 300
const WAL_BYTES = 70_000_000

/** A service in this process, and a second connection to its store, as another program would have. */
type LocalStage = Readonly<{
  service: Service
  data: string
  clock: SharedClock
  other: DatabaseSync
  read(): Promise<Scrape>
  publish(...drafts: readonly object[]): Promise<number>
}>

const publishUrlOf = ({ publishPort }: Service): string => `http://127.0.0.1:${publishPort}`
const buy = (ref: string): object => ({ ref, type: 'trade', kind: 'buy', kots: '1' })

/** Causes that one service in this process meets, one after the other. */
export async function localCauses(data: string): Promise<readonly Cause[]> {
  const clock = openSharedClock()
  clock.set(msOf(Date.now() - 70 * DAY_MS))
  await using service = await startLocalNode(data, NEW_LOG, [TEST_KEY], clock, {
    settings: { streamsMax: STREAMS_MAX, balances: 'report', rateLimit: RATE_LIMIT },
  })
  const other = new DatabaseSync(storePath(data))
  const stage: LocalStage = {
    service,
    data,
    clock,
    other,
    read: () => scrape(publishUrlOf(service)),
    publish: async (...drafts) => (await postDrafts(service, drafts)).status,
  }
  try {
    const causes: Cause[] = []
    for (const make of [
      oldLog,
      oldBackup,
      badDrafts,
      slowStore,
      lateStreams,
      fullStreams,
      longWal,
      fillingDisk,
    ]) {
      causes.push(...(await make(stage)))
    }
    // The last one, because it breaks the store.
    return [...causes, ...(await brokenStore(stage))]
  } finally {
    other.close()
  }
}

/** The newest event is 70 days old, because nothing was published since. */
async function oldLog({ clock, read, publish }: LocalStage): Promise<readonly Cause[]> {
  assert.equal(await publish(buy('old')), 200)
  const ailing = [await read()]
  clock.set(msOf(Date.now()))
  assert.equal(await publish(buy('new')), 200)
  const healthy = await read()
  const by = 'no publication for 70 days'
  return [
    { alert: 'DaybookIsOld', by, healthy, ailing },
    { alert: 'DaybookMonthNotClosed', by, healthy, ailing },
    { alert: 'Watchdog', by: 'nothing at all', healthy, ailing: [healthy] },
  ]
}

async function oldBackup({ data, read }: LocalStage): Promise<readonly Cause[]> {
  const backedUp = async (ageMs: number): Promise<Scrape> => {
    const at = msOf(Date.now() - ageMs)
    writeLastBackup(data, { at, verifiedAt: at, events: 1, bytes: 1 })
    return read()
  }
  const none = await read()
  const [healthy, old] = [await backedUp(60_000), await backedUp(2 * DAY_MS)]
  return [
    { alert: 'DaybookBackupOld', by: 'a backup of the day before yesterday', healthy, ailing: [old] },
    { alert: 'DaybookBackupOld', by: 'no backup', healthy, ailing: [none] },
  ]
}

async function badDrafts({ service, read, publish }: LocalStage): Promise<readonly Cause[]> {
  const healthy = await read()
  assert.equal(await publish({ ref: 'x', type: 'trade', kind: 'buy', kots: 'many' }), 400)
  assert.equal(await publish({ ref: 'y', type: 'treasury', kind: 'withdrawal', kots: '999' }), 200)
  for (let times = 0; times < 3; times += 1) {
    const headers = { authorization: 'Bearer wrong', 'content-type': 'application/json' }
    const answer = await fetch(`${publishUrlOf(service)}/publish`, { method: 'POST', headers, body: '[]' })
    assert.equal(answer.status, 401)
  }
  const ailing = [await read()]
  return [
    { alert: 'DaybookDraftsRefused', by: 'a draft that is invalid', healthy, ailing },
    { alert: 'DaybookIrregular', by: 'a withdrawal of more than there is', healthy, ailing },
    { alert: 'DaybookWrongToken', by: 'requests with a wrong token', healthy, ailing },
  ]
}

/** Sends a draft. Settles when the request is on its way; the result waits for the status. */
async function send({ publishPort }: Service, draft: object): Promise<() => Promise<number>> {
  const headers = { authorization: `Bearer ${LOCAL_TOKEN}`, 'content-type': 'application/json' }
  const sent = request({ port: publishPort, path: '/publish', method: 'POST', headers })
  const status = new Promise<number>((resolve, reject) => {
    sent.once('response', (response) => resolve(response.resume().statusCode ?? 0)).once('error', reject)
  })
  sent.end(JSON.stringify([draft]))
  await once(sent, 'finish')
  return () => status
}

/** Another program keeps the store locked. */
async function slowStore({ service, other, read }: LocalStage): Promise<readonly Cause[]> {
  const healthy = await read()
  other.exec('BEGIN IMMEDIATE')
  const answered = await send(service, buy('slow'))
  await sleep(SLOW_MS)
  other.exec('COMMIT')
  assert.equal(await answered(), 200)
  const ailing = [await read()]
  return [{ alert: 'DaybookPublishesSlowly', by: 'a store that another program locks', healthy, ailing }]
}

/** Keeps this thread busy, which is the main thread of the service. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** The main thread is busy while an event is published. */
async function lateStreams({ service, clock, other, read }: LocalStage): Promise<readonly Cause[]> {
  using stream = await openClient(service.port)
  await stream.until(() => stream.positions().some(({ live }) => live))
  const healthy = await read()
  clock.set(msOf(Date.now()))
  // The writer has the request, and waits for the store until this thread is busy.
  other.exec('BEGIN IMMEDIATE')
  const answered = await send(service, buy('late'))
  other.exec('COMMIT')
  block(SLOW_MS)
  clock.set(msOf(Date.now()))
  assert.equal(await answered(), 200)
  await stream.until(() => stream.seqs().length === 1)
  // One delay among hundreds is not in the slowest hundredth.
  for (let times = 0; times < 4; times += 1) {
    block(BUSY_MS)
    await sleep(1)
  }
  const ailing = [await read()]
  const by = 'a main thread that is busy'
  return [
    { alert: 'DaybookStreamsLate', by, healthy, ailing },
    { alert: 'DaybookLoopLags', by, healthy, ailing },
  ]
}

async function fullStreams({ service, read }: LocalStage): Promise<readonly Cause[]> {
  const healthy = await read()
  const streams: StreamClient[] = []
  for (let count = 0; count < STREAMS_MAX; count += 1) streams.push(await openClient(service.port))
  await until(() => streams.every(({ positions }) => positions().length > 0))
  const ailing = [await read()]
  for (const stream of streams) stream[Symbol.dispose]()
  const alert = 'DaybookStreamsNearLimit'
  const by = `${STREAMS_MAX} of ${STREAMS_MAX} streams`
  return [
    { alert, by, healthy, ailing, severity: 'ticket' },
    { alert, by: `${by} for long`, healthy, ailing, severity: 'page' },
  ]
}

/** Another program keeps a read transaction open while the store is written. */
async function longWal({ data, other, read, publish }: LocalStage): Promise<readonly Cause[]> {
  const healthy = await read()
  const reader = new DatabaseSync(storePath(data), { readOnly: true })
  reader.exec('BEGIN; SELECT key FROM meta')
  other.exec(
    `CREATE TABLE filler(bytes); INSERT INTO filler VALUES (randomblob(${WAL_BYTES})); DROP TABLE filler`,
  )
  assert.equal(await publish(buy('wal')), 200)
  const ailing = [await read()]
  reader.close()
  return [{ alert: 'DaybookWalGrows', by: 'a read transaction that does not end', healthy, ailing }]
}

/** A file grows by a 300th of the free space each minute. */
async function fillingDisk({ data, read }: LocalStage): Promise<readonly Cause[]> {
  const healthy = await read()
  const free = healthy.series?.find(({ name }) => name === 'daybook_disk_free_bytes')?.value ?? 0
  const file = join(data, 'growing')
  execFileSync('fallocate', ['--length', String(Math.ceil(free / 300)), file])
  const ailing = [await read()]
  rmSync(file)
  return [{ alert: 'DaybookDiskWillFill', by: 'a file that grows', healthy, ailing }]
}

/** A table is gone, so that no event can be read. */
async function brokenStore({ service, other, read }: LocalStage): Promise<readonly Cause[]> {
  const healthy = await read()
  other.exec('ALTER TABLE events RENAME TO gone')
  const ask = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${service.port}/api/v1/events/1`)).status
  assert.equal(await ask(), 500)
  const answers = await Promise.all(Array.from({ length: RATE_LIMIT }, ask))
  assert.ok(answers.includes(429), 'the rate limit refuses some')
  await sendNonsense(service.port)
  const ailing = [await read()]
  const by = 'a store that cannot be read'
  return [
    { alert: 'DaybookNotReady', by, healthy, ailing },
    { alert: 'ErrorBudgetBurnsFast', by, healthy, ailing },
    { alert: 'ErrorBudgetBurnsSlowly', by, healthy, ailing },
  ]
}

/** Sends bytes that are no HTTP. */
async function sendNonsense(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').resume()
  socket.write('nonsense\r\n\r\n')
  await once(socket, 'close')
}

/** Causes of the audits: one that does not end, and one that finds an event changed. */
export async function auditCauses(data: string): Promise<readonly Cause[]> {
  const clock = openSharedClock()
  clock.set(msOf(Date.now()))
  const begin = (pace: { pauseMs: number; repeatMs: number }): Promise<Service> =>
    startLocalNode(data, NEW_LOG, [TEST_KEY], clock, { settings: { auditPace: pace } })
  const read = (service: Service): Promise<Scrape> => scrape(publishUrlOf(service))
  {
    await using service = await begin({ pauseMs: 0, repeatMs: DAY_MS })
    const drafts = Array.from({ length: 600 }, (_, index) => buy(`${index}`))
    assert.equal((await postDrafts(service, drafts)).status, 200)
  }
  const overdue = await (async () => {
    await using service = await begin({ pauseMs: DAY_MS, repeatMs: DAY_MS })
    // Read before the service is disposed.
    return await read(service)
  })()
  await using service = await begin({ pauseMs: 0, repeatMs: 50 })
  const healthy = await untilAudited(() => read(service))
  using other = new DatabaseSync(storePath(data))
  other.exec('UPDATE events SET line = replace(line, \'"buy"\', \'"bay"\') WHERE seq = 1')
  const reason = await service.broken
  assert.match(reason, /^seq 1: /)
  const ailing = [await read(service)]
  assert.equal(ailing[0]?.series, null, 'the private listener is closed')
  return [
    { alert: 'DaybookDown', by: 'an audit that finds a changed event', healthy, ailing },
    { alert: 'DaybookAuditOverdue', by: 'an audit that does not end', healthy, ailing: [overdue], hours: 50 },
  ]
}

async function untilAudited(read: () => Promise<Scrape>): Promise<Scrape> {
  for (const limit = performance.now() + 60_000; performance.now() < limit;) {
    const scraped = await read()
    if (scraped.series?.some(({ name, value }) => name === 'daybook_audits_total' && value > 0) === true)
      return scraped
  }
  return assert.fail('no audit ends')
}
