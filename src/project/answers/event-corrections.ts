import type { EventCorrections } from '../../protocol/endpoints/event-endpoints.ts'
import type { Seq } from '../../protocol/seq.ts'
import { asOf } from './as-of.ts'
import type { Books } from '../fold/books.ts'

/** Corrections of an event: the event that cancels it, and the event that replaces it. */
export function eventCorrections(books: Books, seq: Seq): EventCorrections {
  const correction = books.correction(seq)
  return {
    asOf: asOf(books.head),
    seq,
    correctedBy: correction?.by ?? null,
    restatedBy: correction?.restatement ?? null,
  }
}
