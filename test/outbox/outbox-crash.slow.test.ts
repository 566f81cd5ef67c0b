import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { readLines } from '../stage/node-process.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { openCampaign } from '../torture/campaign.ts'
import { type Drainer, startDrainer } from './started-drainer.ts'
import { openOutboxStage, type OutboxStage, until } from './outbox-stage.ts'
import { PLATFORM, type PlatformWriters, startWriters } from './outbox-writers.ts'
import { hasPostgres } from '../database/postgres-server.ts'

const CAMPAIGN = openCampaign('outbox')
/** Kills of the database. The drainer is killed twice as often. */
const CYCLES = CAMPAIGN.size
const WRITERS = 6
/** Longest time between the drainer's first mark after its start and the next kill. */
const KILL_MS_MAX = 250
/** The database is restored from a dump after each of so many kills. */
const CYCLES_PER_RESTORE = 2

/** Dumps the database, drains it, and puts the dump in its place: rows that were drained meanwhile wait again. */
async function restoreFromDump(
  stage: OutboxStage,
  drainer: Drainer,
  writers: PlatformWriters,
): Promise<number> {
  const { server } = stage
  drainer.freeze()
  await until(async () => (await waiting(stage)) > 0, 'rows are waiting')
  await writers.pause()
  const dump = server.run('pg_dump', ['--clean', '--if-exists', server.url()])
  drainer.thaw()
  await drained(stage)
  drainer.freeze()
  server.run('psql', [server.url(), '-q', '-v', 'ON_ERROR_STOP=1', '--single-transaction'], dump)
  const rows = await waiting(stage)
  drainer.thaw()
  writers.resume()
  return rows
}

async function waiting({ sql }: OutboxStage): Promise<number> {
  const [row] = await sql(`SELECT count(*)::int AS waiting FROM daybook_outbox WHERE drained_at IS NULL`)
  return Number(row?.['waiting'])
}

const drained = (stage: OutboxStage): Promise<void> =>
  until(async () => (await waiting(stage)) === 0, 'every row is drained')

/** Waits until the drainer has marked a row that is waiting now. */
async function progress({ sql }: OutboxStage): Promise<void> {
  const drainedRows = async (): Promise<number> => {
    const [row] = await sql(`SELECT count(drained_at)::int AS count FROM daybook_outbox`)
    return Number(row?.['count'])
  }
  const earlier = await drainedRows()
  await until(async () => (await drainedRows()) > earlier, 'the drainer goes on')
}

/** Rows that were sent again after the log had taken them. */
async function sentTwice({ sql }: OutboxStage): Promise<number> {
  const [row] = await sql(`SELECT count(*)::int AS count FROM daybook_outbox WHERE status = 'duplicate'`)
  return Number(row?.['count'])
}

/** Asserts that the log is exactly the table, in the order of commits. */
async function assertSame(stage: OutboxStage): Promise<number> {
  const lines = await readLines(stage.service.url, 0)
  const rows = await stage.rows()
  const events = lines.map((line) => nameOf(JSON.parse(line) as Named))
  const drafts = rows.map(({ draft }) => nameOf(JSON.parse(draft) as Named))
  assert.equal(new Set(events).size, events.length, 'no event is there twice')
  assert.deepEqual(events, drafts, 'the log has every row, in the order of commits, and nothing else')
  assert.deepEqual(
    rows.filter(({ seq }, index) => Number(seq) !== index + 1),
    [],
    'each row knows its event',
  )
  return events.length
}

type Named = Readonly<{ type: string; kind: string; contestId: number; kots?: string | null }>

/** Name of an event that no other event of the campaign has. */
function nameOf({ type, kind, contestId, kots }: Named): string {
  return [type, kind, contestId, kots ?? ''].join(' ')
}

suite(
  `an outbox under crashes, ${CYCLES} of its database`,
  { skip: skipUnless(hasPostgres, 'postgresql') },
  () => {
    let stage: OutboxStage
    before(async () => {
      stage = await openOutboxStage()
      stage.server.run('psql', [stage.server.url(), '-q'], PLATFORM)
    })
    after(() => stage?.[Symbol.asyncDispose]())

    test(
      'loses no row, publishes none twice, and keeps the order of commits',
      { timeout: 100_000 + CYCLES * 10_000 },
      async (t) => {
        const { random, seed } = CAMPAIGN
        const writers = startWriters(stage.server, WRITERS, seed)
        const drainer = startDrainer(stage.words)
        t.after(async () => {
          await drainer.end()
          await writers.stop()
        })
        const fired = { databases: 0, drainers: 0, restores: 0, waitingAgain: 0 }
        writers.resume()
        for (let cycle = 1; cycle <= CYCLES; cycle++) {
          await progress(stage)
          await wait(random.below(KILL_MS_MAX))
          await drainer.kill()
          fired.drainers += 1
          await progress(stage)
          await wait(random.below(KILL_MS_MAX))
          await stage.server.end('SIGKILL')
          if (random.chance(0.3)) await drainer.kill()
          await stage.server.start()
          fired.databases += 1
          if (cycle % CYCLES_PER_RESTORE === 0) {
            fired.waitingAgain += await restoreFromDump(stage, drainer, writers)
            fired.restores += 1
          }
        }
        await writers.pause()
        await drained(stage)
        const { counts } = writers
        const twice = await sentTwice(stage)
        const events = await assertSame(stage)
        assert.equal(await drainer.end(), 0, drainer.said())
        assert.match(drainer.said(), /; trying again/)
        const restores = Math.floor(CYCLES / CYCLES_PER_RESTORE)
        CAMPAIGN.finish(
          t,
          { ...fired, events, twice, ...counts },
          {
            databases: CYCLES,
            drainers: CYCLES,
            restores,
            // The faults met work in progress.
            waitingAgain: restores,
            twice: restores,
            committed: CYCLES * 50,
            rolledBack: CYCLES,
            broken: CYCLES,
          },
        )
      },
    )
  },
)
