import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { suite, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { boundOf, DAY_MS, floorTo, MINUTE_MS, monthOf } from '../../protocol/moment.ts'
import { CONTEST_OUTCOMES, CONTEST_SORTS, CONTEST_STATUSES } from '../../protocol/enumerations.ts'
import { contestIdOf, nextSeq, seqOf } from '../../protocol/seq.ts'
import { randomLogs } from '../../../test/story/random-log.ts'
import { openDirectory, reading, write } from '../../../test/story/store-run.ts'
import { MONTH_FILES } from './archive-tables.ts'
import type { Framing, Snapshot } from './reader.ts'
import { openForReading, storePath } from './store.ts'

/** Scans that do not grow with the log: of small tables, lists in parameters, codes of a contest, and rows of a page. */
const MAY_SCAN =
  /^SCAN (?:(?:kinds|months|loyalty|meta|signing_keys|json_each|codes_of_contest)\b.*|\(subquery-\d+\)|CONSTANT ROW)$/

const PLAIN = {
  noise: 0,
  keptNoise: 0,
  undo: 'rollback',
  pieces: [{ events: 12, droppedBefore: 1 }],
  aheadDays: 0,
  reopens: true,
} as const

const [entries = []] = fc.sample(
  randomLogs.filter((log) => log.length > 40),
  { numRuns: 1, seed: 20261121 },
)

/** The statements that `run` prepares, each once. */
function statementsOf(context: TestContext, run: () => void): readonly string[] {
  const prepare = context.mock.method(DatabaseSync.prototype, 'prepare')
  run()
  prepare.mock.restore()
  return [...new Set(prepare.mock.calls.map(({ arguments: [sql] }) => sql))]
}

/** The steps of a statement's plan that grow with the log: scans and sorts. */
function growingSteps(db: DatabaseSync, sql: string): readonly string[] {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail))
    .filter((step) => (step.startsWith('SCAN') ? !MAY_SCAN.test(step) : isSort(step, sql)))
}

function isSort(step: string, sql: string): boolean {
  return step.includes('TEMP B-TREE') && !sql.includes('FROM kinds')
}

function assertNoneGrows(directory: string, statements: readonly string[]): void {
  const db = openForReading(storePath(directory))
  try {
    const growing = statements.map((sql) => [sql, growingSteps(db, sql)]).filter(([, steps]) => steps?.length)
    assert.deepEqual(growing, [])
  } finally {
    db.close()
  }
}

function askEverything(snapshot: Snapshot): void {
  const { head, books } = snapshot
  const first = books.firstAtMs ?? boundOf(0)
  const last = head.atMs ?? boundOf(0)
  books.totals()
  books.totalsBeforeEach([floorTo(first, MINUTE_MS), floorTo(last, MINUTE_MS)])
  for (const ms of [first, floorTo(last, MINUTE_MS), boundOf(last + DAY_MS), boundOf(last - 1)]) {
    assert.ok(books.totalsBefore(ms).head().seq <= head.seq)
    snapshot.seqBefore(ms)
    books.weekStridedActivity(floorTo(ms, 15 * MINUTE_MS))
  }
  const contest = contestIdOf(1)
  books.contest(contest)
  for (const statuses of [null, CONTEST_STATUSES])
    for (const outcomes of [null, CONTEST_OUTCOMES])
      for (const after of [null, contest]) {
        const page = { statuses, outcomes, after, limit: 10 }
        books.contests(page)
        for (const sort of CONTEST_SORTS)
          for (const words of [[], ['cup']]) books.findContests({ ...page, words, sort })
      }
  books.closedContests({ fromMs: first, toMs: last, limit: 10 })
  books.lastPayout(contest, 'winner')
  books.payoutLines(contest, seqOf(0), 10)
  for (const contestIds of [null, [contest]])
    for (const kinds of [null, ['winner', 'runner_up']]) {
      books.unpaid({ contestIds, kinds, after: 0, limit: 10 })
      books.unpaidTotals({ contestIds, kinds }, floorTo(last, MINUTE_MS))
    }
  books.loyalty()
  snapshot.line(head.seq)
  snapshot.detailsLine(head.seq)
  snapshot.kinds()
  snapshot.newestMove()
  snapshot.months()
  for (const file of MONTH_FILES) {
    const layout = snapshot.monthLayout(monthOf(first), file)
    assert.ok(layout === undefined || snapshot.keepsMonth(monthOf(first), file, layout.storedBytes))
    if (layout !== undefined && layout.storedBytes > 0)
      snapshot.monthChunk(monthOf(first), file, 0, layout.storedBytes)
  }
  snapshot.keys()
  snapshot.held()
  snapshot.tree.checkpoint()
  assert.ok(snapshot.tree.receipt(seqOf(1)) !== undefined)
  assert.ok(snapshot.tree.tile('tile/0/000.p/1') !== undefined)
  assert.ok(snapshot.tree.entries('tile/entries/000.p/1') !== undefined)
  walkEveryWay(snapshot)
}

function walkEveryWay(snapshot: Snapshot): void {
  const framings: readonly Framing[] = ['json', 'csv', 'sse', 'ndjson']
  for (const framing of framings) {
    for (const order of ['asc', 'desc'] as const) {
      for (let way = 0; way < 16; way++) {
        const filter = {
          types: (way & 1) > 0 ? (['play', 'payout'] as const) : null,
          kinds: (way & 2) > 0 ? ['entry'] : null,
          contestIds: (way & 4) > 0 ? [contestIdOf(1)] : null,
          nonzero: (way & 8) > 0,
        }
        const bounds = { after: seqOf(0), before: nextSeq(snapshot.head.seq), limit: 5, examineMax: 20 }
        for (const tx of [null, 'transaction-0001']) snapshot.walk({ filter, tx, order, ...bounds }, framing)
      }
    }
  }
}

suite('the query plans of the store', () => {
  test('answer every question without a scan of a table that grows with the log', (context) => {
    using directory = openDirectory()
    for (const _ of write(directory.path, entries, [PLAIN], 'durable')) continue
    const statements = statementsOf(context, () =>
      reading(directory.path, (reader) => reader.snapshot(askEverything)),
    )
    assert.ok(statements.some((sql) => sql.includes('FROM events')))
    assert.ok(statements.length > 50, `${statements.length} statements`)
    assertNoneGrows(directory.path, statements)
  })

  test('find the events of a filter by the indexes, and their lines by their seqs', (context) => {
    using directory = openDirectory()
    for (const _ of write(directory.path, entries, [PLAIN], 'durable')) continue
    const statements = statementsOf(context, () =>
      reading(directory.path, (reader) => reader.snapshot(walkEveryWay)),
    )
    const db = openForReading(storePath(directory.path))
    const searchesOf = (part: string): readonly (readonly string[])[] =>
      statements
        .filter((sql) => sql.includes(part))
        .map((sql) =>
          db
            .prepare(`EXPLAIN QUERY PLAN ${sql}`)
            .all()
            .map(({ detail }) => String(detail))
            .filter((step) => step.startsWith('SEARCH')),
        )
    const ofCode = 'SEARCH events USING COVERING INDEX events_code (code=? AND rowid>? AND rowid<?)'
    const ofContest =
      'SEARCH events USING COVERING INDEX events_contest (contest=? AND code=? AND rowid>? AND rowid<?)'
    const ofCodes = [
      'SEARCH events USING COVERING INDEX events_contest (contest=?)',
      'SEARCH e USING COVERING INDEX events_contest (contest=? AND code>?)',
    ]
    const ofTx = [
      'SEARCH t USING PRIMARY KEY (key=? AND seq>? AND seq<?)',
      'SEARCH e USING INTEGER PRIMARY KEY (rowid=?)',
    ]
    const lines = ['SEARCH e USING INTEGER PRIMARY KEY (rowid=?)']
    const range = ['SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']
    try {
      const everyRun = 4
      const steps = searchesOf('INDEXED BY events_code')
        .flat()
        .filter((step) => step.includes('rowid'))
      assert.deepEqual(steps, Array(everyRun).fill(ofCode))
      const contestSteps = searchesOf('INDEXED BY events_contest').flat()
      assert.deepEqual(
        contestSteps.filter((step) => step.includes('rowid')),
        Array(everyRun).fill(ofContest),
      )
      assert.deepEqual(new Set(contestSteps), new Set([ofContest, ...ofCodes]))
      assert.deepEqual(searchesOf('FROM tx_events'), [ofTx, ofTx])
      for (const found of searchesOf('(SELECT e.seq, e.line')) assert.deepEqual(found, lines)
      for (const found of searchesOf('NOT INDEXED')) assert.deepEqual(found, range)
    } finally {
      db.close()
    }
  })

  test('find the unpaid prizes of contests and kinds by their indexes, from the cursor on', (context) => {
    using directory = openDirectory()
    for (const _ of write(directory.path, entries, [PLAIN], 'durable')) continue
    const contestIds = [contestIdOf(1)]
    const kinds = ['winner']
    const filters = [
      { contestIds, kinds: null },
      { contestIds: null, kinds },
      { contestIds, kinds },
    ]
    const statements = statementsOf(context, () =>
      reading(directory.path, (reader) =>
        reader.snapshot(({ books }) => {
          for (const filter of filters) {
            books.unpaid({ ...filter, after: 1, limit: 5 })
            books.unpaidTotals(filter, boundOf(floorTo(boundOf(Date.now()), MINUTE_MS)))
          }
        }),
      ),
    )
    const db = openForReading(storePath(directory.path))
    const stepsOf = (sql: string): readonly string[] =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
    try {
      const pages = statements.filter((sql) => sql.includes('FROM unpaid INDEXED'))
      assert.deepEqual([...new Set(pages)].flatMap(stepsOf), [
        'SEARCH unpaid USING COVERING INDEX unpaid_contest (contest=? AND rowid>? AND rowid<?)',
        'SEARCH unpaid USING COVERING INDEX unpaid_kind (kind=? AND rowid>? AND rowid<?)',
        'SEARCH unpaid USING COVERING INDEX unpaid_contest_kind (contest=? AND kind=? AND rowid>? AND rowid<?)',
      ])
      const [sums] = statements.filter((sql) => sql.includes('FROM unpaid_sums'))
      assert.deepEqual(stepsOf(sums ?? ''), [
        'SEARCH unpaid_sums USING PRIMARY KEY (contest=? AND kind=? AND level=? AND bucket>? AND bucket<?)',
      ])
    } finally {
      db.close()
    }
  })

  test('open the log for its writer and commit to it without such a scan', (context) => {
    using directory = openDirectory()
    const statements = statementsOf(context, () => {
      for (const _ of write(directory.path, entries, [PLAIN], 'durable')) continue
    })
    assert.ok(statements.some((sql) => sql.startsWith('INSERT INTO events')))
    assertNoneGrows(directory.path, statements)
  })

  test('are recognised when they scan or sort', () => {
    using directory = openDirectory()
    const db = openForReading(storePath(directory.path))
    try {
      assert.deepEqual(growingSteps(db, 'SELECT sum(nonzero) FROM events WHERE at >= ?'), ['SCAN events'])
      assert.deepEqual(growingSteps(db, 'SELECT id FROM contests WHERE id > ? ORDER BY sums'), [
        'USE TEMP B-TREE FOR ORDER BY',
      ])
    } finally {
      db.close()
    }
  })
})
