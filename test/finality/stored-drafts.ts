import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { storePath } from '../../src/log/store/store.ts'

/** Drafts in a store that nobody serves, by ref. */
export type StoredDrafts = Readonly<{
  /** Seq of each published one. */
  published: ReadonlyMap<string, number>
  /** Id of each held one, in order of acceptance. */
  held: ReadonlyMap<string, number>
  /** `failed` or `dropped`. */
  settled: ReadonlyMap<string, string>
}>

/** Reads a copy of the files, so that the next service finds them as the last one left them. */
export function readStoredDrafts(store: string): StoredDrafts {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-stored-'))
  try {
    const copy = join(folder, 'copy.db')
    copyFileSync(store, copy)
    if (existsSync(`${store}-wal`)) copyFileSync(`${store}-wal`, `${copy}-wal`)
    const db = new DatabaseSync(copy)
    const rows = <T>(sql: string): Map<string, T> =>
      new Map(
        db
          .prepare(sql)
          .all()
          .map((row) => [String(row['ref']), row['is'] as T]),
      )
    const stored = {
      published: rows<number>('SELECT ref, seq AS "is" FROM refs'),
      held: rows<number>('SELECT ref, id AS "is" FROM held ORDER BY id'),
      settled: rows<string>('SELECT ref, state AS "is" FROM settled'),
    }
    db.close()
    return stored
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const storedIn = (data: string): StoredDrafts => readStoredDrafts(storePath(data))

/** Present place of a draft in the store; undefined for an unknown one. */
export function placeOf({ published, held, settled }: StoredDrafts, ref: string): string | undefined {
  const places = [
    published.has(ref) ? 'published' : undefined,
    held.has(ref) ? 'held' : undefined,
    settled.get(ref),
  ].filter((place) => place !== undefined)
  assert.ok(places.length <= 1, `${ref} is ${places.join(' and ')}`)
  return places[0]
}

/** Asserts that held drafts of each contest are in the order in which they were accepted. */
export function assertInOrder(held: Iterable<string>, accepted: Iterable<string>): void {
  const places = new Map([...accepted].map((ref, place) => [ref, place]))
  const last = new Map<string, number>()
  for (const ref of held) {
    const place = places.get(ref)
    if (place === undefined) continue
    const group = ref.slice(0, ref.lastIndexOf('-'))
    assert.ok((last.get(group) ?? -1) < place, `${ref} is held after a later one`)
    last.set(group, place)
  }
}
