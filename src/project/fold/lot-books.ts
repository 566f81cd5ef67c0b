import type { LotBook } from './lots.ts'

/** Lot books in memory by contest and kind. The one used last is at the end. */
export type LotBooks = Map<string, LotBook>

/** The lot book of a key, which is read if it is not in memory. */
export function lotBookIn(books: LotBooks, key: string, read: () => LotBook): LotBook {
  const book = books.get(key) ?? read()
  books.delete(key)
  books.set(key, book)
  return book
}

/** Forgets books without open lots, and those after whose last use books of `lotsCached` lots or more were used. */
export function forgetLotBooks(books: LotBooks, lotsCached: number): void {
  let lots = 0
  for (const [key, { open }] of books) {
    // Without open lots a book is useless, and every contest and kind would leave one behind.
    if (open.size === 0) books.delete(key)
    lots += open.size
  }
  for (const [key, { open }] of books) {
    // A book's own lots do not count: a large contest would be read again for each of its payouts.
    lots -= open.size
    if (lots < lotsCached) return
    books.delete(key)
  }
}
