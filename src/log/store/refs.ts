import { type Seq, seqOf } from '../../protocol/seq.ts'
import { number, text } from './codec.ts'
import { openBeside, storePath } from './store.ts'

/** The operator's refs of a log, and those of drafts that it holds, that failed or were dropped. They are never published. */
type Refs = Readonly<{
  /** The seq of the draft with this ref; undefined when none was published. */
  seqOf(ref: string): Seq | undefined
  /** Whether a draft with this ref is held. */
  isHeld(ref: string): boolean
  /** The last ref in string order from `from` (inclusive) to `to` (exclusive), of held, failed and dropped drafts too. */
  lastBetween(from: string, to: string): string | undefined
}> &
  Disposable

/** Opens the refs of the log in a data directory, in a process that may have other connections to its store. */
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
