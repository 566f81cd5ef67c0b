import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Random, randomOf } from '../sim/random.ts'
import { openReader } from '../src/log/open-reader.ts'
import { openForReading, storePath } from '../src/log/store/store.ts'
import { parseAmount } from '../src/protocol/amount.ts'
import { assert } from '../src/protocol/brand.ts'
import { DAY_MS } from '../src/protocol/moment.ts'
import type { Flows } from '../src/protocol/endpoints/figure-endpoints.ts'
import { bigStore } from './stage/big-store.ts'
import { share } from './stage/measure.ts'
import {
  type Day,
  duckdb,
  postgresql,
  type SqlPeer,
  type Window,
  writeEvents,
} from './questions/questions-sql-peers.ts'
import { type BenchSettings, benchSettings, ms, sayBuilding, table, thousands } from './stage/report.ts'
import { type BenchService, startBenchService } from './stage/service.ts'

/** Measures `/flows` over a year by day, and the same question in SQL over the events. */

const GOAL = 0.03
const DAYS = 365
const ROUNDS = 5
/** Answers in a turn. Daybook gives enough of them to measure processor time in ticks of 10 ms. */
const OWN_TURN = 60
const PEER_TURN = 4
/** Uncounted first answers, so that the code is compiled. */
const WARM_UP = 300
const TICK_MS = 10

const settings = benchSettings(join(tmpdir(), 'daybook-bench'))
process.stdout.write(`${await run(settings)}\n`)

async function run({ store, events }: BenchSettings): Promise<string> {
  const data = bigStore(store, events, sayBuilding(events))
  const directory = mkdtempSync(join(tmpdir(), 'daybook-bench-sql-'))
  try {
    const csv = join(directory, 'events.csv')
    const db = openForReading(storePath(data))
    writeEvents(db, csv)
    db.close()
    await using stack = new AsyncDisposableStack()
    const ours = stack.use(await ownOf(data))
    const peers: SqlPeer[] = []
    for (const peer of [await duckdb(csv), await postgresql(csv, directory)]) {
      if (peer !== undefined) peers.push(stack.use(peer))
    }
    const windows = openWindows(data)
    for (const peer of peers) await assertSame(ours, peer, windows.draw())
    for (let answer = 0; answer < WARM_UP; answer++) await ours.ask(windows.draw())
    const costs = new Map([ours, ...peers].map((candidate) => [candidate.name, [] as number[]]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const candidate of [ours, ...peers]) {
        const answers = candidate === ours ? OWN_TURN : PEER_TURN
        costs.get(candidate.name)?.push(await costOf(candidate, answers, windows))
      }
    }
    return reportOf(events, costs)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Daybook over HTTP, on one connection. */
async function ownOf(data: string): Promise<SqlPeer> {
  const service: BenchService = await startBenchService(data)
  return {
    name: 'Daybook',
    async ask({ fromMs, toMs }) {
      const answer = await service.ask(`/api/v1/flows?from=${fromMs}&to=${toMs}&bucket=day`)
      const { buckets }: Flows = JSON.parse(answer.toString())
      return buckets.map(({ atMs, spentOnPlay, paidInPrizes, burned }) => ({
        atMs,
        spent: amountOf(spentOnPlay),
        paid: amountOf(paidInPrizes),
        burned: amountOf(burned),
      }))
    },
    cpuMs() {
      const fields = readFileSync(`/proc/${service.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

function amountOf(text: string): bigint {
  const amount = parseAmount(text)
  assert(amount !== undefined, 'an answer has amounts')
  return amount
}

type Windows = Readonly<{ draw(): Window }>

/** A year that begins on another day each time, so that no answer is cached. */
function openWindows(data: string): Windows {
  const reader = openReader(data, null)
  const [first, last] = reader.snapshot(({ head, books }) => [books.firstAtMs ?? 0, head.atMs ?? 0])
  reader.close()
  const random: Random = randomOf('windows')
  const from = Math.ceil(first / DAY_MS)
  const starts = Array.from({ length: Math.floor(last / DAY_MS) - DAYS - from }, (_, day) => from + day)
  return {
    draw() {
      const [day] = starts.splice(random.below(starts.length), 1)
      assert(day !== undefined, 'the log is long enough for every question')
      return { fromMs: day * DAY_MS, toMs: (day + DAYS) * DAY_MS }
    },
  }
}

/** Asserts that both have the same figures for every day. The peer has no row for a day without events. */
async function assertSame(ours: SqlPeer, peer: SqlPeer, window: Window): Promise<void> {
  const [own, theirs] = [await ours.ask(window), await peer.ask(window)]
  const byDay = new Map(theirs.map((day) => [day.atMs, day]))
  for (const day of own) {
    const { spent, paid, burned }: Omit<Day, 'atMs'> = byDay.get(day.atMs) ?? {
      spent: 0n,
      paid: 0n,
      burned: 0n,
    }
    const same = spent === day.spent && paid === day.paid && burned === day.burned
    assert(same, `${peer.name} has the figures of ${new Date(day.atMs).toISOString()}`)
  }
}

/** Milliseconds of processor time per answer. */
async function costOf(candidate: SqlPeer, answers: number, windows: Windows): Promise<number> {
  const drawn = Array.from({ length: answers }, () => windows.draw())
  const before = candidate.cpuMs()
  for (const window of drawn) await candidate.ask(window)
  return (candidate.cpuMs() - before) / answers
}

function reportOf(events: number, costs: ReadonlyMap<string, readonly number[]>): string {
  const own = costs.get('Daybook') ?? []
  const rows = ['DuckDB', 'PostgreSQL'].map((name) => {
    const theirs = costs.get(name)
    if (theirs === undefined) return [name, 'not installed', '', '', '', '']
    const ratio = share(
      theirs.map((cost, round) => (own[round] ?? Number.NaN) / cost),
      0.5,
    )
    const [ownCost, cost] = [share(own, 0.5), share(theirs, 0.5)]
    return [name, ms(ownCost), ms(cost), ratio.toFixed(4), `≤ ${GOAL}`, ratio <= GOAL ? 'OK' : 'OVER']
  })
  return [
    `## A year by day in SQL, on ${thousands(events)} events`,
    '',
    `What was spent, paid and burned on each day of a year, no answer asked twice: processor time per answer, in ms, of all threads of the service (\`/flows\`, over HTTP), of this process with DuckDB in it (a table in memory, typed columns, every thread it likes), and of the process of PostgreSQL that answers (an index on the moment, all in memory, one worker). They take turns, ${ROUNDS} rounds; the medians count. The figures of each agree with ours, day by day.`,
    '',
    table(['peer', 'Daybook', 'peer, ms', 'ratio', 'goal', 'held'], rows),
    '',
  ].join('\n')
}
