import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ContestState } from '../../project/fold/contest.ts'
import { ZERO } from '../../protocol/amount.ts'
import { msOf } from '../../protocol/moment.ts'
import type { ContestStatus } from '../../protocol/enumerations.ts'
import { contestIdOf, seqOf } from '../../protocol/seq.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openContestCache } from './contest-cache.ts'
import { openForWriting, storePath } from '../store/store.ts'

/** More contests than the cache holds. */
const MANY = 10_100

function contestOf(id: number, status: ContestStatus, plays = 0n): ContestState {
  return {
    id: contestIdOf(id),
    title: null,
    status,
    scheduledSeq: seqOf(id),
    lastSeq: seqOf(id),
    opensAt: msOf(0),
    closesAt: msOf(1),
    openedAt: null,
    closedAt: null,
    paidAt: null,
    cancelledAt: null,
    entries: 0n,
    plays,
    spentOnPlay: ZERO,
    poolIn: new Map(),
    poolOut: new Map(),
    prizes: new Map(),
  }
}

function openStage() {
  const directory = openDirectory()
  const db = openForWriting(storePath(directory.path))
  const rows = db.prepare(`SELECT id || ' ' || status || ' ' || plays AS row FROM contests ORDER BY id`)
  return {
    cache: openContestCache(db),
    rows: (): readonly string[] => rows.all().map(({ row }) => String(row)),
    begin: () => db.exec('BEGIN'),
    rollback: () => db.exec('ROLLBACK'),
    [Symbol.dispose]() {
      db.close()
      directory[Symbol.dispose]()
    },
  }
}

suite('a contest that a commit changes in the cache', () => {
  test('is known at once, and written in its last state at the flush', () => {
    using stage = openStage()
    stage.cache.put(contestOf(1, 'upcoming'))
    stage.cache.put(contestOf(1, 'running', 2n))
    stage.cache.put(contestOf(1, 'running', 3n))
    assert.equal(stage.cache.get(contestIdOf(1))?.plays, 3n)
    assert.deepEqual(stage.rows(), [])
    stage.cache.flush()
    assert.deepEqual(stage.rows(), ['1 running 3'])
  })

  test('is written again when its figures or its status change', () => {
    using stage = openStage()
    for (const changed of [
      contestOf(1, 'running'),
      contestOf(1, 'running', 1n),
      contestOf(1, 'paying', 1n),
      contestOf(1, 'paying', 2n),
    ]) {
      stage.cache.put(changed)
      stage.cache.flush()
      assert.deepEqual(stage.rows(), [`1 ${changed.status} ${changed.plays}`])
    }
  })

  test('is forgotten after a rollback, and written whole by the next commit', () => {
    using stage = openStage()
    stage.begin()
    stage.cache.put(contestOf(1, 'running', 1n))
    stage.cache.flush()
    stage.rollback()
    stage.cache.forget()
    assert.equal(stage.cache.get(contestIdOf(1)), undefined)
    stage.cache.put(contestOf(1, 'running', 2n))
    stage.cache.flush()
    assert.deepEqual(stage.rows(), ['1 running 2'])
  })

  test('is written before it leaves a full cache', () => {
    using stage = openStage()
    stage.begin()
    for (let id = 1; id <= MANY; id++) stage.cache.put(contestOf(id, 'upcoming'))
    assert.equal(stage.cache.get(contestIdOf(1)), undefined)
    stage.cache.put(contestOf(1, 'running', 1n))
    stage.cache.flush()
    assert.equal(stage.rows().length, MANY)
    assert.equal(stage.rows()[0], '1 running 1')
  })
})
