import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sameEvents } from './build-upgrade.ts'

test('an upgraded store counts as the same only with the same lines, leaves, signatures and details', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(`ATTACH ':memory:' AS old`)
  for (const store of ['main', 'old'])
    db.exec(`CREATE TABLE ${store}.events (seq INTEGER PRIMARY KEY, line, leaf, signature);
      CREATE TABLE ${store}.details (seq INTEGER PRIMARY KEY, line);
      INSERT INTO ${store}.events VALUES (1, 'a', x'01', NULL), (2, 'b', x'02', x'0a'), (3, 'c', x'03', NULL);
      INSERT INTO ${store}.details VALUES (2, 'd')`)
  assert.equal(sameEvents(db, 0, 3), 3)
  assert.equal(sameEvents(db, 1, 2), 1)
  for (const change of [
    `UPDATE events SET line = 'x' WHERE seq = 2`,
    `UPDATE events SET leaf = x'ff' WHERE seq = 2`,
    `UPDATE events SET signature = NULL WHERE seq = 2`,
    `UPDATE details SET line = 'x' WHERE seq = 2`,
    `DELETE FROM details WHERE seq = 2`,
    `DELETE FROM events WHERE seq = 2`,
  ]) {
    db.exec(`BEGIN; ${change}`)
    assert.equal(sameEvents(db, 0, 3), 2, change)
    db.exec('ROLLBACK')
  }
  db.close()
})
