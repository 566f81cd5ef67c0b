import { seqOf } from '../../protocol/seq.ts'
import type { Seq } from '../../protocol/seq.ts'
import { number, text } from './codec.ts'
import { openForReading, storePath } from './store.ts'

/** The operator's refs of a log. They are never published. */
type Refs = Readonly<{
  /** The seq of the draft with this ref; undefined when none was published. */
  seqOf(ref: string): Seq | undefined
  /** The last ref in string order from `from` (inclusive) to `to` (exclusive). */
  lastBetween(from: string, to: string): string | undefined
}> &
  Disposable

/** Opens the refs of the log in a data directory. */
export function openRefs(dataDirectory: string): Refs {
  const db = openForReading(storePath(dataDirectory))
  const seq = db.prepare('SELECT seq FROM refs WHERE ref = ?')
  const last = db.prepare('SELECT ref FROM refs WHERE ref >= ? AND ref < ? ORDER BY ref DESC LIMIT 1')
  return {
    seqOf(ref) {
      const row = seq.get(ref)
      return row === undefined ? undefined : seqOf(number(row, 'seq'))
    },
    lastBetween(from, to) {
      const row = last.get(from, to)
      return row === undefined ? undefined : text(row, 'ref')
    },
    [Symbol.dispose]: () => db.close(),
  }
}
