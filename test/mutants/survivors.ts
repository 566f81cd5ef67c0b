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
  'src/tlog/receipt.ts RECEIPT_ROOM number: 4 → 5':
    'the sum is only compared with another constant, as a check of our own',
  'src/tlog/receipt.ts RECEIPT_ROOM arithmetic: + → - (2)':
    'the sum is only compared with another constant, as a check of our own',
  'src/project/fold/tally.ts readInt128 early exit dropped: if (high === 0n ? low >= 0n : …== -1n && low < 0n) return low → ;':
    'a shorter way to the same number',
  'src/project/fold/week-sums.ts weekStrided early exit dropped: if (withRows === week) return row → ;':
    'without it the activity is added zero times, which is the row again',
  'src/log/message/message-frame.ts readFrame relation: < → <=':
    'a frame of just this length has an empty head, which is no JSON: it is undecodable both ways',
  'src/log/archive/archive-writer.ts endOf number: 7 → 8':
    'a month has seven characters, so the cut ends there anyway',
  'src/log/stream/kept-messages.ts openKeptMessages number: 0 → 1 (2)':
    'the value is set from the table before it is read',
  'src/log/store/store.ts CACHE_KIB arithmetic: * → /': 'the cache of SQLite changes the speed only',
  'src/serve/stream/limits.ts cachedBytesMax number: 4 → 5':
    'the size of a cache is chosen, and no answer depends on it',
  'src/verify/ask-chain.ts WAITS_MS number: 0 → 1':
    'a millisecond before the first question is not promised away',
  'src/protocol/draft.ts DETAILS_LINE_BYTES_MAX number: 16 → 17':
    'a bound above the longest line that the grammar admits: it refuses no line, and a test holds the longest one below it',
  'src/protocol/addresses/monero-search.ts holdsMonero logic: || → &&':
    'more beginnings are tried, and the checksum of the address still decides',
}
