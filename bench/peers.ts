import type { DatabaseSync } from 'node:sqlite'
import type { LogReader } from '../src/log/store/reader.ts'
import { flows } from '../src/project/answers/flows.ts'
import { patterns } from '../src/project/answers/patterns.ts'
import { summary } from '../src/project/answers/summary.ts'
import { DAY_MS, floorTo, type Ms, msOf } from '../src/protocol/moment.ts'
import { share } from './stage/measure.ts'
import { ms, table } from './stage/report.ts'

const YEAR_MS = 365 * DAY_MS
const RUNS = 3

/** A question answered from Daybook's totals and from the events. */
type Duel = Readonly<{ name: string; ours(): unknown; theirs(): unknown }>

/**
 * The same questions in SQL over the `events` table of the same store, as in a service without totals. SQL has the
 * advantage: it sums in floating point and writes no JSON.
 */
export function peersTable(reader: LogReader, db: DatabaseSync, to: Ms): string {
  const rows = duels(reader, db, to).map(({ name, ours, theirs }) => {
    const [own, other] = [median(ours, RUNS * 10), median(theirs, RUNS)]
    return [name, ms(own), ms(other), `${Math.round(other / own)} ×`]
  })
  return table(['question', 'Daybook ms', 'SQL over events ms', 'ratio'], rows)
}

function duels(reader: LogReader, db: DatabaseSync, end: Ms): readonly Duel[] {
  const toMs = floorTo(end, DAY_MS)
  const fromMs = msOf(toMs - YEAR_MS)
  const range = { fromMs, toMs, bucket: 'day', nowMs: null } as const
  const [after, last] = reader.snapshot((snapshot) => [snapshot.seqBefore(fromMs), snapshot.seqBefore(toMs)])
  const ours = (answer: Parameters<typeof reader.snapshot>[0]) => () =>
    reader.snapshot((snapshot) => JSON.stringify(answer(snapshot)))
  const plays = `FROM events WHERE seq > ? AND seq <= ? AND code IN (SELECT code FROM kinds WHERE type = 'play')`
  const spent = `sum(CAST(json_extract(line, '$.kots') AS REAL))`
  const byDay = db.prepare(`SELECT at / 86400000 AS day, ${spent} AS spent ${plays} GROUP BY day`)
  const byHour = db.prepare(
    `SELECT (at / 3600000 + 72) % 168 AS hour, code, count(*) AS plays, ${spent} AS spent ${plays} GROUP BY hour, code`,
  )
  const upTo = db.prepare(
    `SELECT code, count(*) AS events, ${spent} AS amount FROM events WHERE seq <= ? GROUP BY code`,
  )
  return [
    {
      name: 'spent on play per day, a year',
      ours: ours(({ books }) => flows(books, range)),
      theirs: () => byDay.all(after, last),
    },
    {
      name: 'activity by hour of the week, a year',
      ours: ours(({ books }) => patterns(books, range, 0)),
      theirs: () => byHour.all(after, last),
    },
    {
      name: 'headline figures as of a moment',
      ours: ours(({ books }) => summary(books, msOf(toMs - 12_345), end)),
      theirs: () => upTo.all(last),
    },
  ]
}

function median(call: () => unknown, runs: number): number {
  const samples: number[] = []
  for (let run = 0; run < runs; run++) {
    const began = performance.now()
    call()
    samples.push(performance.now() - began)
  }
  return share(samples, 0.5)
}
