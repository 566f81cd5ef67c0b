import { type Seq, seqOf } from '../../protocol/seq.ts'
import { number, text } from './codec.ts'
import { openBeside, storePath } from './store.ts'

/** Operator's refs of a log, including those of held, failed and dropped drafts. They are never published. */
type Refs = Readonly<{
  /** Seq of the published draft with this ref; undefined when there is none. */
  seqOf(ref: string): Seq | undefined
  /** Whether a draft with this ref is held. */
  isHeld(ref: string): boolean
  /**
   * Last ref in string order from `from` (inclusive) to `to` (exclusive), including held, failed and dropped drafts.
   */
  lastBetween(from: string, to: string): string | undefined
}> &
  Disposable

/** Opens the refs of the log in a data directory. The process may have other connections to its store. */
export function openRefs(dataDirectory: string): Refs {
  const db = openBeside(storePath(dataDirectory))
  const seq = db.prepare('SELECT seq FROM refs WHERE ref = ?')
  const held = db.prepare('SELECT 1 FROM held WHERE ref = ?')
  const last = ['refs', 'held', 'settled'].map((table) =>
    db.prepare(`SELECT ref FROM ${table} WHERE ref >= ? AND ref < ? ORDER BY ref DESC LIMIT 1`),
  )
  return {
    seqOf(ref) {
      const row = seq.get(ref)
      return row === undefined ? undefined : seqOf(number(row, 'seq'))
    },
    isHeld: (ref) => held.get(ref) !== undefined,
    lastBetween(from, to) {
      const rows = last.map((statement) => statement.get(from, to)).filter((row) => row !== undefined)
      return rows
        .map((row) => text(row, 'ref'))
        .toSorted()
        .at(-1)
    },
    [Symbol.dispose]: () => db.close(),
  }
}
