import assert from 'node:assert/strict'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { storePath } from '../../../src/log/store/store.ts'
import { readLines } from '../../stage/node-process.ts'
import { until } from '../../stage/stream-client.ts'
import { skipWithout } from '../../processes/test-needs.ts'
import { openCampaign } from '../campaign.ts'
import { openTortureNode } from './torture-node.ts'
import { openTroubledReaders, type SlowVisit, type TroubledGroup } from './troubled-readers.ts'

const CAMPAIGN = openCampaign('slow-backfill')
const LAUNCH_MS = Date.UTC(2026, 4, 20)
const HISTORY_EVENTS = 3_000
/** Subscribers that read a long history at 20 KB/s, at four addresses. */
const GROUPS: readonly TroubledGroup[] = [1, 2, 3, 4].map((index) => ({
  kind: 'backfill',
  address: `127.70.0.${index}`,
  count: 8,
}))
const READERS = GROUPS.reduce((sum, { count }) => sum + count, 0)
/** Commits after which the write-ahead log is emptied from outside. Later it grows until the service does it. */
const PROBES_MAX = 20
const DRAFTS_PROBED = 20
const DRAFTS_GROWING = 200
/** Bytes of the write-ahead log at most. */
const WAL_BYTES_MAX = 24 * 1024 * 1024
/** Growing commits after which the service has begun the write-ahead log again. */
const COMMITS_OF_A_WAL = 60
const BUSY_MS_MAX = 5_000
const BUSY_MS_SHORT = 50

/** Empties the write-ahead log, which no open read allows. Returns whether it was emptied in time. */
function emptyWal(path: string, msMax: number): boolean {
  const db = new DatabaseSync(path, { timeout: msMax })
  try {
    return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
  } finally {
    db.close()
  }
}

/** Number that changes when the write-ahead log begins again: the first salt of its header. */
function roundOf(path: string): number {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(32)
    return readSync(file, header, 0, 32, 0) === 32 ? header.readUInt32BE(16) : 0
  } finally {
    closeSync(file)
  }
}

/** Asserts that one read that stays open would be found. */
function assertFindsOpenRead(path: string): void {
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT max(seq) FROM events').get()
  assert.equal(emptyWal(path, BUSY_MS_SHORT), false, 'an open read keeps the write-ahead log')
  reader.close()
}

function assertPrefix(visits: readonly SlowVisit[], log: readonly string[]): number {
  const lines = visits.flatMap(({ lines: heard }) => heard).filter((line) => line.startsWith('{"seq":'))
  assert.deepEqual([visits.length, visits[0]?.after], [1, 0], 'its stream was never cut')
  assert.deepEqual(lines, log.slice(0, lines.length))
  return lines.length
}

suite(`a log read slowly from its beginning during ${CAMPAIGN.size} commits`, () => {
  test(
    'is never held open: the write-ahead log stays small, and commits go on',
    { skip: skipWithout('python3'), timeout: 120_000 + CAMPAIGN.size * 2_000 },
    async (t) => {
      await using node = await openTortureNode(randomOf(`${CAMPAIGN.seed} drafts`), LAUNCH_MS)
      const path = storePath(node.data)
      const walBytes = (): number => statSync(`${path}-wal`).size
      await node.publish(HISTORY_EVENTS)
      await using readers = await openTroubledReaders(node.port, GROUPS)
      const behind = (): Promise<number> => node.metric('daybook_stream_backfill_clients')
      await until(async () => (await behind()) === READERS)
      const commitMs: number[] = []
      const seen = { probes: 0, walBytes: 0, checkpoints: 0, behind: READERS }
      let before = 0
      for (let commit = 0; commit < CAMPAIGN.size; commit += 1) {
        const isProbe = commit < PROBES_MAX
        const begun = performance.now()
        await node.publish(isProbe ? DRAFTS_PROBED : DRAFTS_GROWING)
        commitMs.push(performance.now() - begun)
        const bytes = walBytes()
        assert.ok(bytes <= WAL_BYTES_MAX, `${bytes} bytes after commit ${commit}, seed ${CAMPAIGN.seed}`)
        seen.walBytes = Math.max(seen.walBytes, bytes)
        seen.behind = Math.min(seen.behind, await behind())
        const present = roundOf(`${path}-wal`)
        if (!isProbe) {
          if (present !== before) seen.checkpoints += 1
          before = present
          continue
        }
        assert.ok(
          emptyWal(path, BUSY_MS_MAX),
          `a read stays open while its subscriber waits (commit ${commit})`,
        )
        assert.equal(walBytes(), 0)
        seen.probes += 1
      }
      await node.publish(1)
      assertFindsOpenRead(path)
      const log = await readLines(node.url, 0)
      const read = (await readers.end()).map((visits) => assertPrefix(visits, log))
      await node.assertWhole()
      commitMs.sort((a, b) => a - b)
      const figures = {
        commits: CAMPAIGN.size,
        events: log.length,
        readers: READERS,
        leastRead: Math.min(...read),
        ...seen,
        commitP99Ms: Math.round(commitMs[Math.ceil(commitMs.length * 0.99) - 1] ?? 0),
      }
      CAMPAIGN.finish(t, figures, {
        behind: READERS,
        leastRead: 1,
        probes: Math.min(CAMPAIGN.size, PROBES_MAX),
        checkpoints: Math.floor((CAMPAIGN.size - PROBES_MAX) / COMMITS_OF_A_WAL),
      })
    },
  )
})
