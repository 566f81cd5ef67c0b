import { type Random, randomOf } from '../../sim/random.ts'
import { connectDatabase, type DatabaseConnection } from '../../src/command/database/database-connection.ts'
import { parseDatabaseUrl } from '../../src/command/database/database-url.ts'
import type { PostgresServer } from '../database/postgres-server.ts'

/** Tables of a small platform, beside its outbox. A play reads its contest as the platform's code does. */
export const PLATFORM = `
  CREATE TABLE contests (id int PRIMARY KEY, state text NOT NULL);
  CREATE SEQUENCE numbers;
`
/** Chance that a transaction is given up at its end. */
const ROLLBACK = 0.1
/** Longest pause inside a transaction, so that commits overtake each other. */
const PAUSE_MS = 4
/** Plays of a contest before some writer closes it, about. */
const CLOSING = 0.05
const RUNNING_MAX = 4

/** Writers of the platform, which survive a crash of the database. */
export type PlatformWriters = Readonly<{
  /** Transactions that were committed, given up, and of unknown outcome. */
  counts: Readonly<{ committed: number; rolledBack: number; broken: number }>
  /** Lets them finish their transactions, and stops them. */
  pause(): Promise<void>
  resume(): void
  stop(): Promise<void>
}>

/** Starts writers, each with a connection of its own, and with this mean time between two transactions. */
export function startWriters(
  server: PostgresServer,
  number: number,
  seed: string,
  paceMs = 0,
): PlatformWriters {
  const counts = { committed: 0, rolledBack: 0, broken: 0 }
  const state = { running: false, over: false }
  let wake = Promise.withResolvers<void>()
  const idle = new Set<number>()
  const target = parseDatabaseUrl(server.url(), null)
  const writer = async (index: number): Promise<void> => {
    const random = randomOf(`${seed} ${index}`)
    let sql: DatabaseConnection | null = null
    while (!state.over) {
      if (!state.running) {
        idle.add(index)
        await wake.promise
        idle.delete(index)
        continue
      }
      try {
        sql ??= await connectDatabase(target, new AbortController().signal)
        await sql.ask('BEGIN')
        await act(sql, random)
        // A transaction that is given up takes no position, as if it had never been.
        const isKept = !random.chance(ROLLBACK)
        await sql.ask(isKept ? 'COMMIT' : 'ROLLBACK')
        counts[isKept ? 'committed' : 'rolledBack'] += 1
        if (paceMs > 0) await later(random.exponential(paceMs))
      } catch {
        counts.broken += 1
        await sql?.[Symbol.asyncDispose]()
        sql = null
        await later(20)
      }
    }
    await sql?.[Symbol.asyncDispose]()
  }
  const writers = Array.from({ length: number }, (_, index) => writer(index))
  return {
    counts,
    async pause() {
      state.running = false
      wake = Promise.withResolvers<void>()
      while (idle.size < number) await later(5)
    },
    resume() {
      state.running = true
      wake.resolve()
    },
    async stop() {
      state.over = true
      wake.resolve()
      await Promise.all(writers)
    },
  }
}

/** One transaction of the platform: it opens a contest, plays in some, or closes one. */
async function act(sql: DatabaseConnection, random: Random): Promise<void> {
  const [running] = await sql.ask(`SELECT count(*)::int AS count FROM contests WHERE state = 'running'`)
  if (Number(running?.['count']) < RUNNING_MAX && random.chance(0.3)) await open(sql)
  else if (random.chance(CLOSING)) await close(sql)
  else await play(sql, random.between(1, 4), random)
}

async function open(sql: DatabaseConnection): Promise<void> {
  const contestId = await numberOf(sql)
  await sql.ask(`INSERT INTO contests VALUES (${contestId}, 'running')`)
  const details = { opensAt: '2027-01-01T00:00:00Z', closesAt: '2027-02-01T00:00:00Z' }
  await insert(sql, { type: 'contest', kind: 'scheduled', contestId, details })
  await insert(sql, { type: 'contest', kind: 'opened', contestId })
}

/** Plays in contests that are running now. None of them can be closed before this transaction ends. */
async function play(sql: DatabaseConnection, count: number, random: Random): Promise<void> {
  for (let left = count; left > 0; left--) {
    const [row] = await sql.ask(`SELECT id FROM contests WHERE state = 'running' ORDER BY id DESC
      OFFSET ${random.below(RUNNING_MAX)} LIMIT 1 FOR SHARE SKIP LOCKED`)
    if (row === undefined) continue
    const kots = `${await numberOf(sql)}.000000001`
    await insert(sql, { type: 'play', kind: 'entry', contestId: row['id'], kots })
    if (random.chance(0.3)) await later(random.below(PAUSE_MS))
  }
}

async function close(sql: DatabaseConnection): Promise<void> {
  const [row] = await sql.ask(
    `SELECT id FROM contests WHERE state = 'running' ORDER BY id LIMIT 1 FOR UPDATE`,
  )
  if (row === undefined) return
  await sql.ask(`UPDATE contests SET state = 'closed' WHERE id = ${Number(row['id'])}`)
  await insert(sql, { type: 'contest', kind: 'closed', contestId: row['id'] })
  await insert(sql, { type: 'contest', kind: 'paid', contestId: row['id'] })
}

/** A number that no other draft has, so that each event can be told from all others. */
async function numberOf(sql: DatabaseConnection): Promise<number> {
  const [row] = await sql.ask(`SELECT nextval('numbers')::int AS number`)
  return Number(row?.['number'])
}

async function insert(sql: DatabaseConnection, draft: object): Promise<void> {
  await sql.ask(`INSERT INTO daybook_outbox (draft) VALUES ('${JSON.stringify(draft)}')`)
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
