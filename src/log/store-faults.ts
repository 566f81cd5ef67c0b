import { DatabaseSync } from 'node:sqlite'
import { text } from './store/codec.ts'
import { TABLES } from './store/store-schema.ts'

/** Counts of held drafts that triggers update, with the rows that each counts. */
const COUNTED: readonly (readonly [column: string, source: string])[] = [
  ['held', 'held'],
  ['refused', 'held WHERE reason IS NOT NULL'],
  ['failed', "settled WHERE state = 'failed'"],
  ['dropped', "settled WHERE state = 'dropped'"],
  ['vouched', 'vouched'],
]

/** Operator's tables whose rows name an event. Not every event has a row: imported drafts may have no ref. */
const NAMING_EVENTS = ['refs', 'vouched'] as const

/**
 * Faults of a store that its lines cannot show, one sentence each. They are damaged pages, indexes that contradict
 * their table, changed definitions, and contradictions of the operator's tables. The pages are read in one step, which
 * no signal interrupts.
 */
export function faultsOfStore(db: DatabaseSync): readonly string[] {
  const pages = db.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check']
  // The tables that follow may be unreadable.
  if (pages !== 'ok') return [`the store has a damaged page, table or index: ${String(pages)}`]
  return [
    ...faultsOfDefinitions(db),
    ...NAMING_EVENTS.flatMap((table) => faultOfSeqs(db, table)),
    ...faultsOfCounts(db),
  ]
}

/** Compares the definitions with those of a new store. A changed trigger or default would write wrong rows. */
function faultsOfDefinitions(db: DatabaseSync): readonly string[] {
  using made = new DatabaseSync(':memory:')
  made.exec(TABLES)
  const [expected, found] = [definitionsOf(made), definitionsOf(db)]
  const names = new Set([...expected.keys(), ...found.keys()])
  const wrong = [...names].filter((name) => expected.get(name) !== found.get(name)).toSorted()
  return wrong.map((name) => `${JSON.stringify(name)} is not defined in the store as in a new one`)
}

/** Definition of each table, index and trigger, by its name. */
function definitionsOf(db: DatabaseSync): ReadonlyMap<string, string> {
  const rows = db.prepare('SELECT name, type, tbl_name, sql FROM sqlite_schema').all()
  return new Map(rows.map((row) => [text(row, 'name'), JSON.stringify(row)]))
}

function faultOfSeqs(db: DatabaseSync, table: (typeof NAMING_EVENTS)[number]): readonly string[] {
  const found = db
    .prepare(
      `SELECT count(*) AS rows, min(seq) AS first FROM ${table}
       WHERE seq NOT BETWEEN 1 AND (SELECT coalesce(max(seq), 0) FROM events)`,
    )
    .get()
  const rows = Number(found?.['rows'])
  return rows === 0
    ? []
    : [`${table}: ${rows} rows name no event of the log, the first seq ${String(found?.['first'])}`]
}

function faultsOfCounts(db: DatabaseSync): readonly string[] {
  const kept = db.prepare('SELECT * FROM held_counts WHERE id = 1').get()
  if (kept === undefined) return ['held_counts: the row of the counts is missing']
  return COUNTED.flatMap(([column, source]) => {
    const rows = db.prepare(`SELECT count(*) AS rows FROM ${source}`).get()?.['rows']
    const count = kept[column]
    return count === rows
      ? []
      : [`held_counts: ${column} is ${String(count)}, and the store has ${String(rows)}`]
  })
}
