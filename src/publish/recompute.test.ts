import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { correcting, type EventSketch, logOf, month, priced } from '../../test/story/story.ts'
import { openDirectory, write } from '../../test/story/store-run.ts'
import { LIST_EVENTS } from '../log/books/contest-list.ts'
import { TABLES } from '../log/store/store-schema.ts'
import { openForWriting, storePath } from '../log/store/store.ts'
import { msOf } from '../protocol/moment.ts'
import { recompute, type Recomputed } from './recompute.ts'

const opensAt = msOf(Date.UTC(2026, 0, 6))
const closesAt = msOf(Date.UTC(2026, 0, 7))
const digest = `sha256:${'0'.repeat(64)}`

/** Entries that leave a row in every table: two weeks, two months, a correction of a price and of a payout. */
const STORY: readonly EventSketch[] = [
  { at: '2026-01-05T00:00Z', is: 'treasury/deposit', kots: '1000' },
  { at: '2026-01-05T00:00Z', is: 'price/usd', details: priced('0.25') },
  { at: '2026-01-05T00:01Z', is: 'price/usd', details: priced('0.5') },
  { at: '2026-01-05T00:02Z', is: 'correction/price', details: correcting(3) },
  {
    at: '2026-01-05T00:03Z',
    is: 'contest/scheduled',
    contest: 1,
    details: { title: 'First cup', opensAt, closesAt },
  },
  { at: '2026-01-06T00:00Z', is: 'contest/opened', contest: 1 },
  { at: '2026-01-06T00:01Z', is: 'play/entry', contest: 1, kots: '10' },
  { at: '2026-01-06T00:02Z', is: 'pool/top_up', contest: 1, kots: '100' },
  { at: '2026-01-07T00:00Z', is: 'contest/closed', contest: 1 },
  { at: '2026-01-07T00:01Z', is: 'prize/winner', contest: 1, kots: '60' },
  { at: '2026-01-07T00:02Z', is: 'prize/winner', contest: 1, kots: '40', details: { claim: true } },
  { at: '2026-01-08T00:00Z', is: 'payout/winner', contest: 1, kots: '70' },
  { at: '2026-01-20T00:00Z', is: 'loyalty/input', details: { month: month('2026-01'), digest } },
  { at: '2026-02-01T00:00Z', is: 'burn/platform_income', kots: '1' },
  // The list of contests is written after this many events.
  ...Array.from(
    { length: LIST_EVENTS },
    () => ({ at: '2026-02-01T00:00Z', is: 'trade/buy', kots: '1' }) as const,
  ),
  { at: '2026-02-01T00:01Z', is: 'hold/winner', contest: 1, details: { reviewUntil: closesAt } },
]

/** A change of one row in each table that can be computed from the lines. */
const CHANGES: Readonly<Record<string, string>> = {
  events: `line = replace(line, '"kots":"10.000000000"', '"kots":"11.000000000"') WHERE seq = 7`,
  details: `line = replace(line, '0.25', '0.35') WHERE seq = 2`,
  tx_events: 'key = key + 1 WHERE seq = 12',
  kinds: 'first_seq = 2 WHERE code = 1',
  totals: `row = zeroblob(length(row)) WHERE id = (SELECT max(id) FROM totals)`,
  week_sums: `row = zeroblob(length(row)) WHERE q = (SELECT max(q) FROM week_sums)`,
  contests: `status = 'paid' WHERE id = 1`,
  contest_list: `pool = '=011' WHERE id = 1`,
  contest_words: `word = 'second' WHERE word = 'first'`,
  lots: 'open = NULL WHERE seq = 11',
  holds: 'review_until = review_until + 1 WHERE contest = 1',
  unpaid: `kots = '1' WHERE seq = 11`,
  unpaid_sums: `claim = 1 WHERE level = 3`,
  takes: `amount = '1' WHERE seq = 12 AND lot = 10`,
  prize_payouts: 'at = at + 1 WHERE contest = 1',
  loyalty: `body = replace(body, '2026-01', '2026-02')`,
  corrections: 'correction = 5 WHERE seq = 3',
  prices: 'cancelled = 0 WHERE seq = 3',
  standing: 'price = NULL WHERE seq = 4',
  moves: `to_status = 'paid' WHERE seq = 9`,
  months: `manifest = replace(manifest, '"events":13', '"events":12') WHERE month = '2026-01'`,
  segments: 'crc = crc + 1 WHERE start = (SELECT min(start) FROM segments)',
}

/** Tables that cannot be computed from the log, and the tree's upper levels, for which the log is too short. */
const UNCHANGED = new Set([
  'meta',
  'refs',
  'held',
  'settled',
  'vouched',
  'held_counts',
  'signing_keys',
  'messages',
  'tree_hashes',
])

function recomputed(directory: string): Recomputed {
  const steps = recompute(storePath(directory), join(directory, 'scratch.db'))
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** The file of a store with the story. */
function storyStore(): Uint8Array {
  using directory = openDirectory()
  const step = { noise: 0, keptNoise: 0, undo: 'drop', aheadDays: 0, reopens: false } as const
  const pieces = [{ events: 5, droppedBefore: 0 }]
  for (const _done of write(directory.path, logOf(STORY).entries(), [{ ...step, pieces }], 'durable'));
  return readFileSync(storePath(directory.path))
}

const STORE = storyStore()

function openStory(): ReturnType<typeof openDirectory> {
  const directory = openDirectory()
  writeFileSync(storePath(directory.path), STORE)
  return directory
}

function change(directory: string, sql: string): void {
  const db = openForWriting(storePath(directory))
  const { changes } = db.prepare(sql).run()
  db.close()
  assert.ok(Number(changes) > 0, `${sql} changes something`)
}

suite('recomputing a store', () => {
  test('finds every table equal to the recomputed one', () => {
    using directory = openStory()
    assert.deepEqual(recomputed(directory.path), { events: STORY.length, differences: [] })
  })

  test('is tested with every table that can be computed from the log', () => {
    const tables = [...TABLES.matchAll(/CREATE TABLE (\w+)/g)].map(([, table = '']) => table)
    assert.deepEqual(new Set(tables.filter((table) => !UNCHANGED.has(table))), new Set(Object.keys(CHANGES)))
  })

  for (const [table, set] of Object.entries(CHANGES)) {
    test(`finds a changed row of ${table}`, () => {
      using directory = openStory()
      change(directory.path, `UPDATE ${table} SET ${set}`)
      // All other tables follow from the lines, so a changed line changes the recomputed tables.
      const isLine = table === 'events' || table === 'details'
      assert.ok(tablesOf(directory.path).includes(isLine ? 'totals' : table))
    })

    test(`finds a missing row of ${table}`, () => {
      using directory = openStory()
      change(directory.path, `DELETE FROM ${table} WHERE ${KEYS[table] ?? 'seq'} = (${newestOf(table)})`)
      assert.ok(tablesOf(directory.path).length > 0)
    })
  }

  test('finds a column that differs from the line', () => {
    for (const set of ['at = at + 1', 'nonzero = 0', 'contest = 2', 'code = 1']) {
      using directory = openStory()
      change(directory.path, `UPDATE events SET ${set} WHERE seq = 12`)
      assert.deepEqual(tablesOf(directory.path), ['events'])
    }
  })

  test('names the first line that is no event or cannot follow the lines before it', () => {
    const broken: Readonly<Record<string, string>> = {
      'DELETE FROM events WHERE seq = 6': 'seq 6 (invariant broken: seq 7 follows 5)',
      'DELETE FROM events WHERE seq = 1': 'seq 1 (invariant broken: seq 2 follows 0)',
      'DELETE FROM details WHERE seq = 2': 'seq 2 (invariant broken: price event 2 has no price)',
      [`UPDATE details SET line = replace(line, '"corrects":3', '"corrects":9') WHERE seq = 4`]:
        'seq 4 (correction 4 cancels an event that does not exist)',
    }
    for (const [sql, first] of Object.entries(broken)) {
      using directory = openStory()
      change(directory.path, sql)
      assert.deepEqual(recomputed(directory.path).differences, [{ table: 'events', rows: 1, first }])
    }
  })

  test('finds a line whose field has another name or another type', () => {
    const fields = ['seq', 'type', 'kind', 'at', 'atMs', 'contestId', 'kots', 'tx']
    const renamed = fields.map((field) => [`"${field}":`, `"${field}x":`] as const)
    const retyped = [
      ['"tx":"', '"tx":7,"id":"'],
      ['"contestId":1', '"contestId":"1"'],
      ['"kind":"winner"', '"kind":7'],
      ['"type":"payout"', '"type":7'],
      ['"kots":"70.000000000"', '"kots":70'],
    ] as const
    for (const [from, to] of [...renamed, ...retyped]) {
      using directory = openStory()
      change(directory.path, `UPDATE events SET line = replace(line, '${from}', '${to}') WHERE seq = 12`)
      assert.ok(tablesOf(directory.path).includes('events'), to)
    }
  })
})

function tablesOf(directory: string): string[] {
  return recomputed(directory).differences.map(({ table }) => table)
}

const KEYS: Readonly<Record<string, string>> = {
  kinds: 'code',
  totals: 'id',
  week_sums: 'q',
  unpaid_sums: 'contest',
  prize_payouts: 'contest',
  contests: 'id',
  contest_list: 'id',
  contest_words: 'word',
  holds: 'contest',
  loyalty: 'month',
  months: 'month',
  segments: 'month',
}

function newestOf(table: string): string {
  return `SELECT max(${KEYS[table] ?? 'seq'}) FROM ${table}`
}
