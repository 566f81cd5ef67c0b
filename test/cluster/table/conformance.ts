import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  type LeadSession,
  type LogTable,
  type Look,
  LOOK_ROWS_MAX,
  ROW_BYTES_MAX,
  TableError,
} from '../../../src/cluster/table/log-table.ts'
import type { TableRig } from './table-rig.ts'

const ATTEMPTS_MAX = 1_500
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const rowOf = (place: number): Uint8Array => bytesOf(`row ${place}`)

/** A sentence about a table, and its check. */
type TableCase = readonly [sentence: string, check: (rig: TableRig) => Promise<void>]

const CASES: readonly TableCase[] = [
  ['shows the rows of its leader to every node, in order', showsRows],
  ['is empty and not led at first', isEmpty],
  ['is led by one session at a time', isLedOnce],
  ['takes each place once, and no place beyond the next', takesEachPlaceOnce],
  ['ends a look at the asked number of bytes, after one row at least', endsLooks],
  ['carries any bytes up to the largest row', carriesBytes],
  ['tells a barrier the newest place', tellsBarrier],
  ['shows each node the places of the others', showsPlaces],
  ['frees the lock of a lost session, which appends nothing more', freesLock],
  ['neither appends nor proves nor shows what the standbys lack', needsStandbys],
  ['keeps what it acknowledged over a failover, and shows a newer timeline', survivesFailover],
  ['shows that its tail is gone', showsLostTail],
  ['measures the clocks', measuresClocks],
]

/** Tests the promises of a table: append at a place under a lock, read, lock. Each case begins with `reset`. */
export function testTableConformance(
  name: string,
  openRig: () => Promise<TableRig>,
  skip: string | false,
): void {
  suite(name, { skip, timeout: 300_000 }, () => {
    for (const [sentence, check] of CASES) {
      test(sentence, async () => {
        const rig = await openRig()
        await rig.reset()
        await check(rig)
      })
    }
  })
}

/** Tries to lead until the lock is free: a lost session frees it a moment later. */
async function leadSoon(rig: TableRig, table: LogTable): Promise<LeadSession> {
  let reason = 'another session leads'
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    try {
      const lead = await table.lead(0)
      if (lead !== null) return lead
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      reason = error.message
    }
    await rig.pause()
  }
  return assert.fail(reason)
}

/** Looks until something holds. */
async function lookUntil(rig: TableRig, table: LogTable, holds: (look: Look) => boolean): Promise<Look> {
  let reason = 'it never holds'
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    try {
      const look = await table.look(1, ROW_BYTES_MAX, 0)
      if (holds(look)) return look
      reason = `it never holds: ${JSON.stringify({ ...look, rows: look.rows.length })}`
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      reason = error.message
    }
    await rig.pause()
  }
  return assert.fail(reason)
}

async function appendAll(lead: LeadSession, from: number, to: number): Promise<void> {
  for (let place = from; place <= to; place += 1) {
    assert.equal(await lead.append(place, rowOf(place)), 'appended', `row ${place}`)
  }
}

async function assertRows(table: LogTable, to: number): Promise<void> {
  const { rows, isProved } = await table.look(1, ROW_BYTES_MAX, 0)
  assert.ok(isProved)
  const expected = Array.from({ length: to }, (_, index) => ({ place: index + 1, bytes: rowOf(index + 1) }))
  assert.deepEqual(
    rows.map(({ place, bytes }) => ({ place, bytes: Uint8Array.from(bytes) })),
    expected,
  )
}

async function isEmpty(rig: TableRig): Promise<void> {
  await using table = rig.open()
  const { rows, last, isLed, isProved, shown } = await table.look(1, ROW_BYTES_MAX, 0)
  assert.deepEqual(
    { rows, last, isLed, isProved, shown },
    { rows: [], last: 0, isLed: false, isProved: true, shown: 0 },
  )
}

async function showsRows(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using other = rig.open()
  await using lead = await leadSoon(rig, table)
  await appendAll(lead, 1, 5)
  await assertRows(table, 5)
  await assertRows(other, 5)
  const { rows, last } = await lead.look(4, ROW_BYTES_MAX, 3)
  assert.deepEqual([rows.map(({ place }) => place), last], [[4, 5], 5])
  assert.deepEqual((await other.look(6, ROW_BYTES_MAX, 5)).rows, [])
}

async function isLedOnce(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using other = rig.open()
  const lead = await leadSoon(rig, table)
  assert.equal(await other.lead(0), null)
  assert.equal(await table.lead(0), null)
  assert.equal((await other.look(1, ROW_BYTES_MAX, 0)).isLed, true)
  await lead[Symbol.asyncDispose]()
  await lead.lost
  assert.notEqual(await lead.append(1, rowOf(1)), 'appended')
  await lookUntil(rig, other, ({ isLed }) => !isLed)
  await using next = await leadSoon(rig, other)
  await appendAll(next, 1, 1)
}

async function takesEachPlaceOnce(rig: TableRig): Promise<void> {
  await using table = rig.open()
  for (const [before, place] of [
    [0, 2],
    [1, 1],
    [2, 1],
    [2, 2],
    [2, 4],
  ] as const) {
    await using lead = await leadSoon(rig, table)
    await appendAll(lead, (await lead.barrier()) + 1, before)
    assert.equal(await lead.append(place, bytesOf('another row')), 'refused', `row ${place} after ${before}`)
  }
  await assertRows(table, 2)
}

async function endsLooks(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using lead = await leadSoon(rig, table)
  await appendAll(lead, 1, LOOK_ROWS_MAX + 1)
  const count = async (bytesMax: number): Promise<number> => (await table.look(1, bytesMax, 0)).rows.length
  const bytes = rowOf(1).length
  assert.deepEqual([await count(1), await count(2 * bytes), await count(2 * bytes + 1)], [1, 2, 2])
  assert.equal(await count(ROW_BYTES_MAX), LOOK_ROWS_MAX)
}

async function carriesBytes(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using lead = await leadSoon(rig, table)
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const largest = new Uint8Array(ROW_BYTES_MAX).fill(7)
  assert.equal(await lead.append(1, all), 'appended')
  assert.equal(await lead.append(2, largest), 'appended')
  const { rows } = await table.look(1, 2 * ROW_BYTES_MAX, 0)
  assert.deepEqual(
    rows.map(({ bytes }, index) => Buffer.compare(bytes, index === 0 ? all : largest)),
    [0, 0],
  )
}

async function tellsBarrier(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using lead = await leadSoon(rig, table)
  assert.equal(await lead.barrier(), 0)
  await appendAll(lead, 1, 2)
  assert.equal(await lead.barrier(), 2)
}

async function showsPlaces(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using other = rig.open()
  await other.look(1, ROW_BYTES_MAX, 7)
  assert.equal((await table.look(1, ROW_BYTES_MAX, 3)).shown, 7)
  assert.equal((await other.look(1, ROW_BYTES_MAX, 7)).shown, 3)
  await other[Symbol.asyncDispose]()
  await lookUntil(rig, table, ({ shown }) => shown === 0)
}

async function freesLock(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using other = rig.open()
  await using lead = await leadSoon(rig, table)
  await appendAll(lead, 1, 1)
  await rig.cutSessions()
  await lead.lost
  await using next = await leadSoon(rig, other)
  assert.notEqual(await lead.append(2, bytesOf('late')), 'appended')
  await assert.rejects(lead.barrier(), TableError)
  await appendAll(next, 2, 2)
  await lookUntil(rig, table, ({ last }) => last === 2)
  await assertRows(table, 2)
}

async function needsStandbys(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using lead = await leadSoon(rig, table)
  await appendAll(lead, 1, 1)
  await assertRows(table, 1)
  await rig.partStandbys()
  try {
    assert.equal(await lead.append(2, rowOf(2)), 'unknown')
    const look = await table.look(1, ROW_BYTES_MAX, 0)
    assert.equal(look.isProved, false)
    assert.ok(look.rows.every(({ place }) => place === 1))
    await assert.rejects(lead.barrier(), TableError)
  } finally {
    await rig.joinStandbys()
  }
  await lead[Symbol.asyncDispose]()
  await using next = await leadSoon(rig, table)
  const last = await next.barrier()
  await appendAll(next, last + 1, 3)
  await lookUntil(rig, table, ({ isProved }) => isProved)
  await assertRows(table, 3)
}

async function survivesFailover(rig: TableRig): Promise<void> {
  await using table = rig.open()
  const lead = await leadSoon(rig, table)
  await appendAll(lead, 1, 3)
  const { server } = await table.look(1, ROW_BYTES_MAX, 0)
  await rig.failOver()
  await lead.lost
  assert.notEqual(await lead.append(4, bytesOf('late')), 'appended')
  const look = await lookUntil(rig, table, ({ isProved }) => isProved)
  assert.equal(look.server.systemId, server.systemId)
  assert.ok(look.server.timeline > server.timeline, 'the timeline grew')
  await assertRows(table, 3)
  await using next = await leadSoon(rig, table)
  assert.equal(await next.barrier(), 3)
  await appendAll(next, 4, 4)
}

async function showsLostTail(rig: TableRig): Promise<void> {
  await using table = rig.open()
  const lead = await leadSoon(rig, table)
  await appendAll(lead, 1, 3)
  await lead[Symbol.asyncDispose]()
  await rig.cutTail(2)
  const look = await lookUntil(rig, table, ({ isProved }) => isProved)
  assert.equal(look.last, 1)
  await using next = await leadSoon(rig, table)
  assert.equal(await next.barrier(), 1)
  await appendAll(next, 2, 2)
}

async function measuresClocks(rig: TableRig): Promise<void> {
  await using table = rig.open()
  await using lead = await leadSoon(rig, table)
  const { offsetMs, errorMs } = await lead.clockOffset()
  assert.ok(errorMs >= 0 && Number.isFinite(offsetMs))
}
