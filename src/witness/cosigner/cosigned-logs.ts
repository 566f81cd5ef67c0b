import type { DatabaseSync } from 'node:sqlite'
import { bytes, number, type Row, text } from '../../log/store/codec.ts'
import { isSame } from '../../tlog/hash.ts'
import type { StateFile } from './state-file.ts'

/** A checkpoint that this witness has cosigned. */
export type CosignedTree = Readonly<{
  origin: string
  size: number
  root: Uint8Array
  /** Signed text, the verified signature lines of the log, and our cosignature lines. */
  text: string
  logLines: string
  lines: string
  /** Time of our cosignatures in whole seconds since 1970. */
  time: number
}>

/** State of a witness: the newest cosigned checkpoint of each log. */
export type CosignedLogs = Readonly<{
  /** The newest cosigned checkpoint; undefined before the first. */
  newest(origin: string): CosignedTree | undefined
  all(): readonly CosignedTree[]
  /**
   * Replaces `former` by `next` in one statement. False when another checkpoint is in its place. The row is on the disk
   * when this returns.
   */
  replace(former: CosignedTree | undefined, next: CosignedTree): boolean
  /** Checkpoint that has our own cosignature and is newer than `newest`: the state went back. */
  forgotten(origin: string): CosignedTree | undefined
  /** Origins with a forgotten checkpoint. */
  forgottenOrigins(): readonly string[]
  /** Stores a forgotten checkpoint. False when one as new is stored already. */
  forget(tree: CosignedTree): boolean
  /**
   * Replaces the newest checkpoints by forgotten newer ones. A forgotten one of the same size with another root stays,
   * because the keys have cosigned two histories. Returns the number of replaced ones.
   */
  adopt(): number
}>

const COLUMNS = 'origin, size, root, text, log_lines, lines, time'

/** Opens the rows of a state. */
export function openCosignedLogs({ db, commit }: Pick<StateFile, 'db' | 'commit'>): CosignedLogs {
  const newest = reading(db, 'logs')
  const forgotten = reading(db, 'forgotten')
  const insert = db.prepare(
    `INSERT INTO logs (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const update = db.prepare(
    `UPDATE logs SET size = ?, root = ?, text = ?, log_lines = ?, lines = ?, time = ?
     WHERE origin = ? AND size = ? AND root = ? AND time = ?`,
  )
  const keep = db.prepare(`REPLACE INTO forgotten (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const drop = db.prepare('DELETE FROM forgotten WHERE origin = ?')

  function put(former: CosignedTree | undefined, next: CosignedTree): boolean {
    const { origin } = next
    if (former === undefined) return insert.run(...valuesOf(next)).changes === 1
    const [, ...values] = valuesOf(next)
    return update.run(...values, origin, former.size, former.root, former.time).changes === 1
  }
  function adoptOne(tree: CosignedTree): boolean {
    const former = newest.one(tree.origin)
    if (former?.size === tree.size && !isSame(former.root, tree.root)) return false
    const time = Math.max(former?.time ?? 0, tree.time)
    const base = former === undefined || tree.size > former.size ? tree : former
    put(former, { ...base, time })
    drop.run(tree.origin)
    return true
  }
  return {
    newest: newest.one,
    all: newest.all,
    replace: (former, next) => commit(() => put(former, next)),
    forgotten: forgotten.one,
    forgottenOrigins: () => forgotten.all().map(({ origin }) => origin),
    forget(tree) {
      const kept = forgotten.one(tree.origin)
      if (kept !== undefined && !isNewer(tree, kept)) return false
      return commit(() => keep.run(...valuesOf(tree)).changes > 0)
    },
    adopt() {
      let adopted = 0
      commit(() => {
        adopted = forgotten.all().filter(adoptOne).length
        return adopted > 0
      })
      return adopted
    },
  }
}

/** Whether a cosigned checkpoint of a log has a larger tree than another, or the same size and a later time. */
function isNewer(tree: CosignedTree, other: CosignedTree): boolean {
  return tree.size > other.size || (tree.size === other.size && tree.time > other.time)
}

type Reading = Readonly<{
  one(origin: string): CosignedTree | undefined
  all(): readonly CosignedTree[]
}>

function reading(db: DatabaseSync, table: 'logs' | 'forgotten'): Reading {
  const one = db.prepare(`SELECT ${COLUMNS} FROM ${table} WHERE origin = ?`)
  const all = db.prepare(`SELECT ${COLUMNS} FROM ${table} ORDER BY origin`)
  return {
    one(origin) {
      const row = one.get(origin)
      return row === undefined ? undefined : treeOf(row)
    },
    all: () => all.all().map(treeOf),
  }
}

type Values = readonly [string, number, Uint8Array, string, string, string, number]

function valuesOf({ origin, size, root, text: signed, logLines, lines, time }: CosignedTree): Values {
  return [origin, size, root, signed, logLines, lines, time]
}

function treeOf(row: Row): CosignedTree {
  return {
    origin: text(row, 'origin'),
    size: number(row, 'size'),
    root: bytes(row, 'root'),
    text: text(row, 'text'),
    logLines: text(row, 'log_lines'),
    lines: text(row, 'lines'),
    time: number(row, 'time'),
  }
}
