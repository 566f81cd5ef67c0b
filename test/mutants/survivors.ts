/**
 * Generated mutants that no test can kill, by id, with the reason. The id has no line number, so it stays when other code
 * moves. Each reason says why the behaviour is the same, or why the difference is not promised.
 */
export const KNOWN_SURVIVORS: Readonly<Record<string, string>> = {
  'src/protocol/addresses/base32-search.ts leb128 relation: < → <=':
    'no actor with the number 128 manages addresses',
  'src/protocol/addresses/base32-search.ts decode relation: < → <=':
    'one more digit completes at most one more byte, and a typed array ignores what is written after its end',
  'src/protocol/addresses/base32-search.ts NAME_CHARS_MAX number: 94 → 95':
    'one more end of a name is tried, and the checksum of the address still decides',
  'src/protocol/addresses/base32-search.ts isNano place moved: from → from + 1':
    'an address begins with 1 or 3, which are the same in small letters',
  'src/protocol/addresses/cashaddr-search.ts holdsPrefixedCashaddr arithmetic: + → -':
    'a payload that goes on after the run has a character without a value, so its checksum is wrong',
  'src/protocol/addresses/base58-number.ts bytes relation: < → <=':
    'a typed array ignores what is written after its end',
  'src/protocol/addresses/base58-search.ts LONG_BYTES_MIN number: 40 → 41':
    'no form has 41 bytes: a private key has 38 at most, and a Byron address 43 at least',
  'src/protocol/addresses/base58-search.ts search relation: <= → <':
    'a candidate of 25 characters is no address: one of 25 bytes has 26 characters at least',
  'src/protocol/addresses/base58-search.ts charsMax number: 4 → 5':
    'the pattern is bound to the beginning, and none of its branches is longer than four characters',
  'src/protocol/addresses/base58-search.ts fits number: 38 → 39':
    'a private key of 39 bytes begins with 0x80 or more, so it would have 54 characters, more than are searched in groups or inside a word',
  'src/protocol/addresses/bech32-search.ts length number: 32 → 33':
    'five bits index the table, so the entry 32 is never read',
  'src/protocol/addresses/bech32-search.ts lowerCode number: 90 → 91':
    'a prefix has letters, digits and underscores only, and 91 is the code of a bracket',
  'src/protocol/addresses/monero-search.ts holdsMonero logic: || → &&':
    'more beginnings are tried, and the checksum of the address still decides',
  'src/protocol/addresses/monero-search.ts isMonero relation: < → <=':
    'no address has a multiple of eleven characters (95 and 106), so no block begins at the end',
  'src/protocol/addresses/monero-search.ts holdsMonero relation: >= → >':
    'the character at the end of a run is no digit of base58, so no address begins there, and the next run is measured one step later',
  'src/tlog/key-chain.ts verifyKeyChain early exit dropped: if (found.has(candidate)) continue → ;':
    'a key that was found is only found again: the set stays the same, and the signatures are verified once more',
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
  'src/project/fold/lots.ts opened relation: <= → <':
    'when the two seqs are equal, the copy with the seq of the hold equals the lot',
  'src/project/fold/tally.ts readInt128 early exit dropped: if (high === 0n ? low >= 0n : …== -1n && low < 0n) return low → ;':
    'a shorter way to the same number',
  'src/project/fold/week-sums.ts weekStrided early exit dropped: if (withRows === week) return row → ;':
    'without it the activity is added zero times, which is the row again',
  'src/project/fold/week-sums.ts decodeActivity number: 0n → 1n':
    'an encoded activity always has its four figures, so the value is there for its type only',
  'src/protocol/amount.ts smaller relation: < → <=': 'of two equal amounts either is the smaller',
  'src/protocol/amount.ts scaled relation: < → <=':
    'the pattern of drafts admits no amount that begins with a point',
  'src/protocol/amount.ts scaled number: 0 → 1':
    'the pattern of drafts admits no amount that begins with a point',
  'src/protocol/draft.ts DETAILS_LINE_BYTES_MAX number: 16 → 17':
    'a bound above the longest line that the grammar admits: it refuses no line, and a test holds the longest one below it',
  'src/log/archive/archive-writer.ts endOf number: 7 → 8':
    'a month has seven characters, so the cut ends there anyway',
  'src/log/archive/gzip-member.ts level number: 6 → 7':
    'the level is chosen: every reader unpacks segments of any level, and other nodes take the segments of the writer',
  'src/log/archive/sha256-state.ts takeBlocks number: 0 → 1 (7)':
    'a value for a word that is always there: only its type may be absent',
  'src/log/backup/backup-folder.ts backupsIn number: 1 → 2 (2)': 'a comparison only needs the sign',
  'src/log/books/amount-key.ts LENGTH_MAX number: 1 → 2':
    'the number is a check of our own: the largest amount has 39 digits',
  'src/log/books/contest-list.ts put call dropped: open.clear() → ;':
    'a contest that stays has not changed since its row was written, so the same row is written again',
  'src/log/books/stored-books.ts rows relation: <= → <':
    'a single list is in its order and within the limit already, so sorting and cutting it changes nothing',
  'src/log/books/unpaid-reader.ts after arguments swapped: total, sumsIn(level, from, to) → sumsIn(level, from, to), total':
    'sums are added in any order',
  'src/log/books/unpaid-reader.ts whole number: 1 → 2': 'the level of the whole has one bucket only',
  'src/log/event-runs.ts cursors relation: > → >=':
    'a run without seqs gives none, and leaves the heap when it is taken',
  'src/log/store/high-water.ts FORMER_MAX number: 16 → 17':
    'the number is chosen: one more former log fits the place too',
  'src/log/store/high-water.ts end place moved: CRC_BYTES → CRC_BYTES + 1':
    'the JSON begins with a brace there, so no zero is at the first byte',
  'src/log/store/store.ts CACHE_KIB arithmetic: * → /': 'the cache of SQLite changes the speed only',
  'src/log/store/store.ts refusalOf relation: > → >=': 'no caller asks for the refusal of the present schema',
  'src/log/store/store.ts place number: 1 → 2':
    'the number stands for no place, and is only asked whether it is below zero',
  'src/log/tree/signing-keys.ts readKeys relation: < → <=':
    'the vkey is the primary key of the table, so no two are equal',
  'src/log/tree/signing-keys.ts listKeys number: 1 → 2': 'the count of changes is only compared with zero',
  'src/log/walk.ts EVENTS_PER_RUN number: 8 → 9':
    'the number chooses between two ways to the same page by their speed',
  'src/log/walk.ts events arithmetic: - → +':
    'the number chooses between two ways to the same page by their speed',
  'src/log/walk.ts openStatements early exit dropped: if (known !== undefined) return known → ;':
    'a kept statement reads what a new one of the same text reads',
  'src/log/witnessed/vouched-checkpoint.ts vouchedCheckpoint relation: > → >=':
    'the last moment ends with 999 milliseconds, so no whole second equals it',
  'src/publish/commits/batch-work.ts drafts number: 0 → 1':
    'the number of drafts only estimates the bytes for which the disk is probed, 4 KiB more of 256 KiB and more',
  'src/publish/commits/commit-queue.ts size number: 0 → 1':
    'a commit without requests counts one draft of the 20,000 of a shared commit, or one byte of a message, so at most it goes into the next commit',
  'src/serve/stream/hub.ts queue early exit dropped: if (subscriber.queued) return → ;':
    'a second turn does what the next one would do; the check saves a turn',
  'src/serve/stream/limits.ts cachedBytesMax number: 4 → 5':
    'the size of a cache is chosen, and no answer depends on it',
  'src/serve/stream/limits.ts verdictMs number: 5 → 6':
    'the wait of a stream for its cursor before the headers is chosen; only the wait of a request for a seq is promised to last 5 s',
  'src/serve/stream/limits.ts historySliceMs number: 4 → 5':
    'the turns of streams in history are a little longer, within a limit that a check of our own holds',
  'src/serve/allowance/allowance-table.ts low number: 0 → 1':
    'the halves of a hash share one byte: 56 random bits find the same entries as 64',
  'src/serve/allowance/allowance-table.ts touch early exit dropped: if (table.words[NEWEST] === entry) return → ;':
    'the newest entry is taken out and linked again as the newest; the check saves that',
  'src/serve/allowance/allowance-windows.ts windowsBytes number: 8 → 9':
    'the memory of an allowance is a little larger, and nothing is kept at its end',
  'src/serve/allowance/allowance.ts sharedWaitSeconds arithmetic: * → /':
    'the search goes past the end of the window, where nothing counts, and finds the same second there',
  'src/serve/allowance/allowance.ts header number: 2 → 3':
    'the view of the header is one word longer, and nobody reads that word through it',
  'src/verify/ask-chain.ts WAITS_MS number: 0 → 1':
    'a millisecond before the first question is not promised away',
  'src/verify/ask-chain.ts recentFrom number: 0 → 1':
    'it differs only when the clock is within twenty minutes of the start of 1970',
  'src/finality/audit/keyed-table.ts rank arithmetic: + → -':
    'a rank is random bits of a hash, and the difference of its parts is as random as the sum',
  'src/finality/audit/keyed-table.ts slotOf number: 1 → 2':
    'every second slot is searched, and half of all slots are free, so the same rows are found',
  'src/finality/audit/named-transactions.ts compare relation: > → >=':
    'it decides between equal sums only, whose order is not promised',
}
