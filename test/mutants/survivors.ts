/**
 * Generated mutants that no test can kill, by id, with the reason. The id has no line number, so it stays when other code
 * moves. Each reason says why the behaviour is the same, or why the difference is not promised.
 */
export const KNOWN_SURVIVORS: Readonly<Record<string, string>> = {
  'src/serve/stream/hub.ts queue early exit dropped: if (subscriber.queued) return → ;':
    'a second turn does what the next one would do; the check saves a turn',
  'src/verify/onchain/keyed-table.ts rank arithmetic: + → -':
    'a rank is random bits of a hash, and the difference of its parts is as random as the sum',
  'src/protocol/addresses/base32-search.ts leb128 relation: < → <=':
    'no actor with the number 128 manages addresses',
  'src/verify/replay/replay-shelf.ts unpaid place moved: limit → limit + 1':
    'the answer cuts the rows to its page again',
  'src/log/books/unpaid-reader.ts after arguments swapped: total, sumsIn(level, from, to) → sumsIn(level, from, to), total':
    'sums are added in any order',
  'src/tlog/note.ts blank number: 1 → 2':
    'the number stands for bytes that are no UTF-8, which the next line refuses first',
  'src/tlog/receipt.ts blank number: 1 → 2':
    'the number stands for bytes that are no UTF-8, which the next line refuses first',
  'src/tlog/receipt.ts parseReceipt number: 0 → 1':
    'a receipt that begins with a line feed has no header line, and is refused with the same doubt',
  'src/tlog/receipt.ts parseReceipt relation: < → <=':
    'a receipt that begins with a line feed has no header line, and is refused with the same doubt',
}
