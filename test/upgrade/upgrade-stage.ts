import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { storePath } from '../../src/log/store/store.ts'
import { type UpgradeReport, type UpgradeSettings, upgradeStore } from '../../src/publish/upgrade/upgrade.ts'
import { makeLog } from '../story/damaged-log.ts'

/** Events of the long log: more than a slice of an upgrade. */
export const LONG_EVENTS = 15_000
const LONG_COMMITS = 30

/** Upgrades a data directory as a command does, also a store of the present schema. */
export function upgrade(
  dataDirectory: string,
  settings: Partial<UpgradeSettings> = {},
): Promise<UpgradeReport | null> {
  return upgradeStore({
    dataDirectory,
    keys: [],
    version: '0.0.0',
    rebuild: true,
    waitMs: 0,
    monotonicMs: () => performance.now(),
    onForecast: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    ...settings,
  })
}

/** Makes a log that an upgrade carries over in several transactions. */
export function makeLongLog(data: string): void {
  makeLog(
    data,
    Array.from({ length: LONG_COMMITS }, (_, index) => ((index + 1) * LONG_EVENTS) / LONG_COMMITS),
  )
}

/** Asserts that two stores are whole, and have the same tables, indexes and rows; `needs` may be new. */
export function assertSameStores(actual: string, expected: string): void {
  const db = new DatabaseSync(actual)
  try {
    db.prepare('ATTACH ? AS expected').run(expected)
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
    const schemaOf = (name: string): unknown =>
      db.prepare(`SELECT type, name, sql FROM ${name}.sqlite_schema ORDER BY type, name`).all()
    assert.deepEqual(schemaOf('main'), schemaOf('expected'))
    for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()) {
      const rows = (from: string): string =>
        `SELECT * FROM ${from}.${String(name)} ${name === 'meta' ? "WHERE key <> 'needs'" : ''}`
      const [ours, theirs] = [rows('main'), rows('expected')]
      for (const [one, other] of [
        [ours, theirs],
        [theirs, ours],
      ]) {
        const found = db.prepare(`${one} EXCEPT ${other}`).all()
        assert.deepEqual(found, [], `rows of ${String(name)} in one store only`)
      }
    }
  } finally {
    db.close()
  }
}

/** Path of the store that an upgrade of the schema has kept. */
export function keptStoreOf(data: string, schema: number): string {
  return `${storePath(data)}.schema-${schema}`
}
