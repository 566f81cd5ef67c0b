import { DatabaseSync } from 'node:sqlite'
import { bytes, number, text } from '../../log/store/codec.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'

type Row = Parameters<typeof text>[0]

/**
 * Damage of a witness's state; null when there is none. `tables` is the SQL that has made the state. The origin, size and
 * root of each cosigned checkpoint are in its text too, and its time is in the cosignatures: they must agree, so that no
 * damage lets the witness forget a tree. Damaged signatures are left to those who verify them. Throws errors of SQLite.
 */
export function damageOf(db: DatabaseSync, tables: string): string | null {
  if (db.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'] !== 'ok')
    return 'its pages do not fit together'
  using own = new DatabaseSync(':memory:')
  own.exec(tables)
  if (schemaOf(db) !== schemaOf(own)) return 'its tables are not those of a witness'
  for (const table of ['logs', 'forgotten'])
    for (const row of db.prepare(`SELECT origin, size, root, text, lines, time FROM ${table}`).all())
      if (!isWhole(row)) return 'a cosigned checkpoint differs from its text or its cosignatures'
  return null
}

function schemaOf(db: DatabaseSync): string {
  const rows = db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all()
  return JSON.stringify(rows)
}

/** Whether a row says the same as its text and its cosignatures, whose newest time it has, or a later one. */
function isWhole(row: Row): boolean {
  const read = readCheckpoint(Buffer.from(`${text(row, 'text')}\n${text(row, 'lines')}`))
  if (!read.ok) return false
  const { checkpoint, note } = read.value
  const { origin, size, root } = checkpoint
  const isNamed = origin === text(row, 'origin') && size === number(row, 'size')
  const times = note.signatures.map(({ signature }) => timeOf(signature))
  return isNamed && isSame(root, bytes(row, 'root')) && times.every((time) => time <= number(row, 'time'))
}

/** Time in whole seconds at the beginning of a cosignature of any type (C2SP tlog-cosignature). */
function timeOf(signature: Uint8Array): bigint {
  if (signature.length < 8) return 0n
  return new DataView(signature.buffer, signature.byteOffset).getBigUint64(0)
}
