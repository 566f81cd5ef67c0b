import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import {
  type AppendAnswer,
  type LeadSession,
  type PrimaryIdentity,
  ROW_BYTES_MAX,
  TableError,
} from '../../../src/cluster/table/log-table.ts'
import { openLogTable } from '../../../src/cluster/table/open-table.ts'
import { openFakePostgres } from '../../database/fake-postgres.ts'
import { openFaultRelay } from '../../torture/history/fault-relay.ts'
import { startHolder } from './lock-holder.ts'
import { type PostgresTableRig, tableOptions } from './postgres-table-rig.ts'
import { moveRows } from '../../../src/cluster/log/move-log.ts'

const WAIT_MS = 60_000
const LOOK_MS = 20
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Tests of lost, silent and wrong servers. They leave a primary with a synchronous standby. */
export function testTableFaults(openRig: () => Promise<PostgresTableRig>, skip: string | false): void {
  suite('a table of PostgreSQL', { skip, timeout: 300_000 }, () => {
    const onRig = (check: (rig: PostgresTableRig) => Promise<void>) => async (): Promise<void> => {
      const rig = await openRig()
      await rig.reset()
      await check(rig)
    }
    test('does not trust a commit whose wait was cancelled, whatever the role is set to', onRig(isCancelled))
    test('does not trust a commit whose session was ended', onRig(isTerminated))
    test('does not trust a commit that emptied standby names released', onRig(isReleased))
    test('keeps the lock of an append that waits for its standby', onRig(keepsLock))
    test('ends a silent leader, whose late row is not inserted', onRig(isSilent))
    test('is not led on a standby', onRig(isStandby))
    test('is not led by a process that stood still, whose late row is not inserted', onRig(isStopped))
    test('refuses a former primary', onRig(isFormer))
    test('leaves a former primary that stays for the new one', onRig(isReplaced))
    test('names a hole', onRig(hasHole))
    test('takes all rows of a log at once, into an empty table only', onRig(takesMove))
    test('is reached with TLS only on another machine', needsTls)
    test('refuses a server without TLS when the address requires it', onRig(requiresTls))
    test('names a refused password, and does not tell it', refusesPassword)
    // The servers have other ports after this.
    test('shows a shorter table after a failover to an asynchronous standby', onRig(isAsynchronous))
  })
}

/** Looks until something is so. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + WAIT_MS; !(await holds()); await sleep(LOOK_MS)) {
    assert.ok(performance.now() < endMs, what)
  }
}

/** The session of a leader, as soon as the lock is free. */
async function leading(table: ReturnType<PostgresTableRig['open']>): Promise<LeadSession> {
  const found: LeadSession[] = []
  await until('the lock is free', async () => {
    const lead = await table.lead(0)
    if (lead !== null) found.push(lead)
    return lead !== null
  })
  return found[0] ?? assert.fail('no session leads')
}

/** Pauses the standby, begins the append of row 2, and calls `disturb` while its commit waits. */
async function whileCommitWaits(
  rig: PostgresTableRig,
  disturb: (pid: number, appended: Promise<AppendAnswer>) => Promise<void>,
): Promise<void> {
  await using table = rig.open()
  await using lead = await leading(table)
  assert.equal(await lead.append(1, bytesOf('row 1')), 'appended')
  await rig.partStandbys()
  try {
    const appended = lead.append(2, bytesOf('row 2'))
    const waiting = "SELECT pid FROM pg_stat_activity WHERE usename = 'daybook' AND wait_event = 'SyncRep'"
    let pid = 0
    await until('the commit waits', async () => {
      const [row] = await rig.servers.sql(rig.servers.primary(), waiting)
      pid = Number(row?.['pid'] ?? 0)
      return pid > 0
    })
    await disturb(pid, appended)
    assert.equal(await appended, 'unknown')
  } finally {
    await rig.joinStandbys()
  }
}

/** Rows that a new session proves. */
async function placesProved(rig: PostgresTableRig): Promise<readonly number[]> {
  await using table = rig.open()
  const { rows, isProved } = await table.look(1, ROW_BYTES_MAX, 0)
  return isProved ? rows.map(({ place }) => place) : []
}

async function isCancelled(rig: PostgresTableRig): Promise<void> {
  const primary = rig.servers.primary()
  const settings = ["client_min_messages = 'error'", 'synchronous_commit = off', "search_path = 'pg_temp'"]
  await rig.servers.sql(primary, ...settings.map((setting) => `ALTER ROLE daybook SET ${setting}`))
  try {
    await whileCommitWaits(rig, async (pid) => {
      await rig.servers.sql(primary, `SELECT pg_cancel_backend(${pid})`)
      assert.deepEqual(await placesProved(rig), [], 'the row is visible, and on this server only')
    })
  } finally {
    await rig.servers.sql(primary, 'ALTER ROLE daybook RESET ALL')
  }
  await until('the row is proved', async () => (await placesProved(rig)).length === 2)
}

async function isTerminated(rig: PostgresTableRig): Promise<void> {
  await whileCommitWaits(rig, async (pid) => {
    await rig.servers.sql(rig.servers.primary(), `SELECT pg_terminate_backend(${pid})`)
  })
  await until('the row is proved', async () => (await placesProved(rig)).length === 2)
}

async function isReleased(rig: PostgresTableRig): Promise<void> {
  const primary = rig.servers.primary()
  await whileCommitWaits(rig, async (_pid, appended) => {
    await rig.servers.sql(
      primary,
      "ALTER SYSTEM SET synchronous_standby_names = ''",
      'SELECT pg_reload_conf()',
    )
    assert.equal(await appended, 'unknown')
    await rig.servers.sql(primary, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
  })
}

async function keepsLock(rig: PostgresTableRig): Promise<void> {
  await whileCommitWaits(rig, async (_pid, appended) => {
    assert.equal(await appended, 'unknown')
    await using other = rig.open()
    assert.equal(await other.lead(0), null)
    assert.equal((await other.look(1, ROW_BYTES_MAX, 0)).isLed, true)
  })
}

async function isSilent(rig: PostgresTableRig): Promise<void> {
  await using relay = await openFaultRelay(() => rig.servers.primary().port)
  const url = `postgres://daybook@127.0.0.1:${relay.port}/postgres?sslmode=disable`
  await using table = rig.open({ url })
  await using other = rig.open()
  await using lead = await leading(table)
  assert.equal(await lead.append(1, bytesOf('row 1')), 'appended')
  relay.stall('both')
  const late = lead.append(2, bytesOf('late'))
  await using next = await leading(other)
  relay.heal()
  assert.equal(await late, 'unknown')
  assert.equal(await next.append(2, bytesOf('row 2')), 'appended')
  const { rows } = await other.look(2, ROW_BYTES_MAX, 0)
  assert.deepEqual(
    rows.map(({ bytes }) => Buffer.from(bytes).toString()),
    ['row 2'],
  )
}

async function isStopped(rig: PostgresTableRig): Promise<void> {
  await using holder = startHolder(rig.servers.url())
  await holder.line('leading')
  holder.child.kill('SIGSTOP')
  await using table = rig.open()
  await using next = await leading(table)
  holder.child.stdin.write('append\n')
  holder.child.kill('SIGCONT')
  assert.match(await holder.line('answer'), /refused|unknown/)
  assert.equal((await next.look(1, ROW_BYTES_MAX, 0)).last, 0)
  assert.equal(await next.append(1, bytesOf('row 1')), 'appended')
}

async function isStandby(rig: PostgresTableRig): Promise<void> {
  const port = rig.servers.standby().port
  await using table = rig.open({ url: `postgres://daybook@127.0.0.1:${port}/postgres?sslmode=disable` })
  await assert.rejects(table.lead(0), /is a standby or takes no writes/)
  await assert.rejects(table.look(1, ROW_BYTES_MAX, 0), TableError)
}

async function isFormer(rig: PostgresTableRig): Promise<void> {
  const seen: PrimaryIdentity[] = []
  const memory = { read: () => seen.at(-1) ?? null, write: (one: PrimaryIdentity) => void seen.push(one) }
  await using table = rig.open({ memory })
  assert.equal((await table.look(1, ROW_BYTES_MAX, 0)).last, 0)
  await rig.servers.failOver()
  await until('the new primary is found', async () => {
    return table.look(1, ROW_BYTES_MAX, 0).then(
      () => true,
      () => false,
    )
  })
  assert.equal(seen.length, 2)
  await rig.servers.primary().end('SIGKILL')
  const former = await rig.servers.startFork()
  await assert.rejects(table.look(1, ROW_BYTES_MAX, 0), TableError)
  await assert.rejects(table.lead(0), /timeline is \d+, older than \d+/)
  await former.end('SIGKILL')
  await rig.servers.primary().start()
  await rig.servers.rebuildStandby()
}

async function isReplaced(rig: PostgresTableRig): Promise<void> {
  await using table = rig.open()
  const { server } = await table.look(1, ROW_BYTES_MAX, 0)
  await rig.servers.sql(rig.servers.standby(), 'SELECT pg_promote(true, 30)')
  try {
    await until('the new primary is found', async () => {
      const look = await table.look(1, ROW_BYTES_MAX, 0)
      return look.server.timeline > server.timeline
    })
  } finally {
    await rig.servers.rebuildStandby()
  }
}

async function isAsynchronous(rig: PostgresTableRig): Promise<void> {
  await using table = rig.open()
  const lead = await leading(table)
  assert.equal(await lead.append(1, bytesOf('row 1')), 'appended')
  const { server } = await table.look(1, ROW_BYTES_MAX, 0)
  await rig.servers.copyAside()
  assert.equal(await lead.append(2, bytesOf('row 2')), 'appended')
  await rig.servers.promoteCopy()
  await lead.lost
  const port = rig.servers.primary().port
  await using after = rig.open({ url: `postgres://daybook@127.0.0.1:${port}/postgres?sslmode=disable` })
  const look = await after.look(1, ROW_BYTES_MAX, 2)
  assert.deepEqual([look.last, look.isProved, look.server.systemId], [1, true, server.systemId])
  assert.ok(look.server.timeline > server.timeline)
  await rig.servers.rebuildStandby()
}

async function hasHole(rig: PostgresTableRig): Promise<void> {
  await using table = rig.open()
  await using lead = await leading(table)
  for (const place of [1, 2, 3]) assert.equal(await lead.append(place, bytesOf('row')), 'appended')
  await rig.servers.sql(rig.servers.primary(), 'DELETE FROM public.daybook_log WHERE place = 2')
  await assert.rejects(table.look(1, ROW_BYTES_MAX, 0), /has row 3, but no row 2/)
}

async function takesMove(rig: PostgresTableRig): Promise<void> {
  const target = parseDatabaseUrl(rig.servers.url(), null)
  const rows = Array.from({ length: 2_500 }, (_, index) => ({
    place: index + 1,
    bytes: bytesOf(`row ${index}`),
  }))
  await using table = rig.open()
  const lead = await leading(table)
  await assert.rejects(
    moveRows(target, rows, tableOptions(), () => undefined),
    /a node of this log leads/,
  )
  await lead[Symbol.asyncDispose]()
  await until('the lock is free', async () => !(await table.look(1, 1, 0)).isLed)
  await assert.rejects(
    moveRows(target, [...rows, { place: 7, bytes: bytesOf('twice') }], tableOptions(), () => undefined),
    TableError,
  )
  assert.equal((await table.look(1, 1, 0)).last, 0, 'all rows or none')
  await moveRows(target, rows, tableOptions(), () => undefined)
  const look = await table.look(2_400, ROW_BYTES_MAX, 0)
  assert.deepEqual([look.last, look.rows], [2_500, rows.slice(2_399)])
  await assert.rejects(
    moveRows(target, rows, tableOptions(), () => undefined),
    /is not empty/,
  )
}

async function needsTls(): Promise<void> {
  const url = 'postgres://daybook:secret@db.example.invalid:5432/postgres?sslmode=disable'
  await using table = openLogTable(parseDatabaseUrl(url, null), tableOptions())
  await assert.rejects(table.lead(0), /db\.example\.invalid:5432: TLS is required for another machine/)
}

async function requiresTls(rig: PostgresTableRig): Promise<void> {
  await using table = rig.open({ url: rig.servers.url().replace('sslmode=disable', 'sslmode=require') })
  await assert.rejects(table.lead(0), /the server has no TLS/)
  await assert.rejects(table.look(1, ROW_BYTES_MAX, 0), TableError)
}

async function refusesPassword(): Promise<void> {
  const refusal = { code: '28P01', message: 'password authentication failed for user "daybook"' }
  await using server = await openFakePostgres(() => refusal)
  await using table = openLogTable({ ...server.target, password: 'opensesame' }, tableOptions())
  await assert.rejects(table.lead(0), (error: unknown) => {
    assert.ok(error instanceof TableError)
    assert.match(error.message, /password authentication failed/)
    assert.ok(!error.message.includes('opensesame'))
    return true
  })
}
