import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { ATTEMPT_MS_MAX, EngineError, MESSAGE_BYTES_MAX } from '../../src/engine/log-engine.ts'
import type { PrimaryMemory } from '../../src/engine/postgres/primary-link.ts'
import { until } from '../processes/other-program.ts'
import { openFaultRelay } from '../torture/history/fault-relay.ts'
import type { PostgresServer } from '../outbox/postgres-server.ts'
import type { PostgresRig } from './postgres-rig.ts'
import { portOf } from './postgres-rig.ts'
import { appendUntilRead } from './settled-append.ts'

const WAIT_MS = 60_000
const textBytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Tests of lost, paused and wrong servers. They leave a primary with a synchronous standby. */
export function testPostgresFaults(openRig: () => Promise<PostgresRig>, skip: string | false): void {
  suite('PostgreSQL', { skip, timeout: 300_000 }, () => {
    const onRig = (check: (rig: PostgresRig) => Promise<void>) => async (): Promise<void> => {
      const rig = await openRig()
      await rig.makeStream()
      await check(rig)
    }
    test('acknowledges and shows nothing that its standby lacks', onRig(lacksStandby))
    test('does not trust a commit whose wait was cancelled, whatever the role is set to', onRig(isCancelled))
    test('does not trust a commit that emptied standby names released', onRig(isReleased))
    test('answers in time while the primary is paused', onRig(isPaused))
    test('stops at an address that leads to another server', onRig(isMoved))
    test('leaves a primary that takes no writes', onRig(isReadOnly))
    test('refuses a former primary, and two primaries of one timeline', onRig(isForked))
  })
}

async function places({ log }: EngineConnection, from: number): Promise<readonly number[]> {
  return (await log.read(from, MESSAGE_BYTES_MAX)).map(({ place }) => place)
}

/** Appends, and checks that the answer is in time and no acknowledgement. */
async function isNotAcknowledged({ log }: EngineConnection, place: number): Promise<void> {
  const beganMs = performance.now()
  assert.notEqual(await log.append(place, textBytes(`place ${place}`)), 'appended')
  assert.ok(performance.now() - beganMs < ATTEMPT_MS_MAX + 200, 'the attempt has a limit')
}

async function lacksStandby(rig: PostgresRig): Promise<void> {
  await using writer = rig.connect()
  await using reader = rig.connect()
  assert.equal(await writer.log.append(1, textBytes('place 1')), 'appended')
  assert.deepEqual(await places(reader, 1), [1])
  rig.standby().signal('SIGSTOP')
  try {
    assert.equal(await writer.log.append(2, textBytes('place 2')), 'unknown')
    const [shown] = await Promise.all([
      places(reader, 1),
      isNotAcknowledged(writer, 2),
      assert.rejects(reader.log.last(), EngineError),
      assert.rejects(places(writer, 2), EngineError),
    ])
    assert.deepEqual(shown, [1], 'what was shown is shown again')
    const [row] = await rig.sql(
      rig.primary(),
      "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE usename = 'daybook'",
    )
    assert.ok(row?.['count'] <= 8, `${row?.['count']} connections: none is left behind`)
  } finally {
    rig.standby().signal('SIGCONT')
  }
  await rig.untilSynchronous()
  assert.equal(await reader.log.last(), 2)
  assert.deepEqual(await places(reader, 1), [1, 2])
  assert.equal(await writer.log.append(3, textBytes('place 3')), 'appended')
}

/** Pauses the standby, begins an append, and calls `disturb` while its commit waits. */
async function whileCommitWaits(
  rig: PostgresRig,
  writer: EngineConnection,
  disturb: (pid: number) => Promise<void>,
): Promise<void> {
  assert.equal(await writer.log.append(1, textBytes('place 1')), 'appended')
  rig.standby().signal('SIGSTOP')
  try {
    const appended = writer.log.append(2, textBytes('place 2'))
    const waiting = "SELECT pid FROM pg_stat_activity WHERE usename = 'daybook' AND wait_event = 'SyncRep'"
    for (const endMs = performance.now() + WAIT_MS; performance.now() < endMs;) {
      const [row] = await rig.sql(rig.primary(), waiting)
      if (row === undefined) continue
      await disturb(Number(row['pid']))
      break
    }
    assert.equal(await appended, 'unknown')
    await Promise.all([assert.rejects(places(writer, 2), EngineError), isNotAcknowledged(writer, 3)])
  } finally {
    rig.standby().signal('SIGCONT')
  }
}

async function isCancelled(rig: PostgresRig): Promise<void> {
  const settings = ["client_min_messages = 'error'", 'synchronous_commit = off', "search_path = 'pg_temp'"]
  await rig.sql(rig.primary(), ...settings.map((setting) => `ALTER ROLE daybook SET ${setting}`))
  await using writer = rig.connect()
  await whileCommitWaits(rig, writer, async (pid) => {
    await rig.sql(rig.primary(), `SELECT pg_cancel_backend(${pid})`)
  })
  await rig.sql(rig.primary(), 'ALTER ROLE daybook RESET ALL')
  await rig.untilSynchronous()
  assert.ok((await writer.log.last()) >= 2)
}

async function isReleased(rig: PostgresRig): Promise<void> {
  await using writer = rig.connect()
  await whileCommitWaits(rig, writer, async () => {
    await rig.sql(rig.primary(), "ALTER SYSTEM SET synchronous_standby_names = ''", 'SELECT pg_reload_conf()')
  })
  await rig.sql(rig.primary(), 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
  await rig.untilSynchronous()
  assert.ok((await writer.log.last()) >= 2)
}

async function isPaused(rig: PostgresRig): Promise<void> {
  await using writer = rig.connect()
  assert.equal(await writer.log.append(1, textBytes('place 1')), 'appended')
  rig.primary().signal('SIGSTOP')
  try {
    await Promise.all([isNotAcknowledged(writer, 2), assert.rejects(writer.log.last(), EngineError)])
  } finally {
    rig.primary().signal('SIGCONT')
  }
  const settled = await appendUntilRead(writer.log, 2, textBytes('place 2'), () => true)
  assert.equal(settled?.isOurs, true)
  assert.deepEqual(await places(writer, 1), [1, 2])
}

async function isMoved(rig: PostgresRig): Promise<void> {
  let target = rig.primary()
  await using relay = await openFaultRelay(() => portOf(target))
  const url = `postgres://daybook@127.0.0.1:${relay.port}/postgres?sslmode=disable`
  await using writer = rig.connect({ url })
  assert.equal(await writer.log.append(1, textBytes('place 1')), 'appended')
  target = rig.standby()
  const change = nextChange(writer)
  await rig.sql(
    rig.primary(),
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'daybook' AND query LIKE 'WITH asked%'",
  )
  await isNotAcknowledged(writer, 2)
  await refuses(writer, /is a standby|leads to another server/)
  target = rig.primary()
  assert.match(await change, /was opened again/)
  assert.equal(await writer.log.append(2, textBytes('place 2')), 'appended')
}

async function isReadOnly(rig: PostgresRig): Promise<void> {
  await using writer = rig.connect()
  assert.equal(await writer.log.append(1, textBytes('place 1')), 'appended')
  const name = 'default_transaction_read_only'
  await rig.sql(rig.primary(), `ALTER SYSTEM SET ${name} = on`, 'SELECT pg_reload_conf()')
  let place = 2
  try {
    // A reload reaches an open connection a moment later, and appends are acknowledged until then.
    await until('an append is not acknowledged', async () => {
      const isAppended = (await writer.log.append(place, textBytes(`place ${place}`))) === 'appended'
      if (isAppended) place += 1
      return !isAppended
    })
    await isNotAcknowledged(writer, place + 1)
    await isNotAcknowledged(writer, place)
    await refuses(writer, /takes no writes/)
  } finally {
    await rig.sql(rig.primary(), `ALTER SYSTEM RESET ${name}`, 'SELECT pg_reload_conf()')
  }
  await until('the connection answers again', async () => (await writer.log.last()) === place - 1)
}

/** Asks a connection, which must refuse to answer, until it names the reason: a slow server gives no answer in time. */
async function refuses({ log }: EngineConnection, reason: RegExp): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  for (;;) {
    const error: unknown = await log.last().then(
      () => assert.fail('it answers'),
      (refusal: unknown) => refusal,
    )
    assert.ok(error instanceof EngineError, String(error))
    if (reason.test(error.message)) return
    assert.ok(performance.now() < endMs, error.message)
  }
}

/** The next change that a connection tells. */
async function nextChange(connection: EngineConnection): Promise<string> {
  const told = new EventTarget()
  connection.onChange((what) => void told.dispatchEvent(new CustomEvent('change', { detail: what })))
  const [event] = (await once(told, 'change', { signal: AbortSignal.timeout(WAIT_MS) })) as [CustomEvent]
  return String(event.detail)
}

async function isForked(rig: PostgresRig): Promise<void> {
  let seen: ReturnType<PrimaryMemory['read']> = null
  const memory: PrimaryMemory = { read: () => seen, write: (primary) => void (seen = primary) }
  await using writer = rig.connect({ memory })
  assert.equal(await writer.log.append(1, textBytes('place 1')), 'appended')
  const change = nextChange(writer)
  await rig.failOver()
  assert.match(await change, /on timeline/)
  await rig.primary().end('SIGKILL')

  const former = await rig.startFork()
  const isOlder = /timeline is \d+, older than \d+/
  await using restarted = rig.connect({ memory })
  await Promise.all([isNotAcknowledged(writer, 2), refuses(writer, isOlder), refuses(restarted, isOlder)])
  await former.end('SIGKILL')

  await promoteAlone(former, rig)
  await rig.primary().start()
  await using stranger = rig.connect()
  try {
    await Promise.all([stranger, writer].map((one) => refuses(one, /primar(?:y|ies) of timeline/)))
  } finally {
    await former.end('SIGKILL')
    await rig.rebuildStandby()
  }
  assert.equal(await stranger.log.last(), 1)
  const settled = await appendUntilRead(writer.log, 2, textBytes('place 2'), () => true)
  assert.equal(settled?.isOurs, true)
}

/** Starts a dead server as a standby of nobody, and promotes it. */
async function promoteAlone(server: PostgresServer, rig: PostgresRig): Promise<void> {
  writeFileSync(join(server.host, 'data', 'standby.signal'), '')
  await server.start()
  await rig.sql(server, 'SELECT pg_promote(true, 30)')
}
