import type { EventCorrections } from '../../protocol/resources.ts'
import type { Seq } from '../../protocol/seq.ts'
import { asOf } from './as-of.ts'
import type { Books } from '../fold/books.ts'

/** What became of an event after it: the correction that took it back, and the event that took its place. */
export function eventCorrections(books: Books, seq: Seq): EventCorrections {
  const correction = books.correction(seq)
  return {
    asOf: asOf(books.head),
    seq,
    correctedBy: correction?.by ?? null,
    restatedBy: correction?.restatement ?? null,
  }
}
