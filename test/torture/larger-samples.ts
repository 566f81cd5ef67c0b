/**
 * Quick tests that draw small random samples in `npm test`, and `DAYBOOK_CAMPAIGN` of each for a sample that takes seconds.
 * Each file says in what it counts.
 */
export const LARGER_SAMPLES: Readonly<Record<string, number>> = {
  'sim/history.test.ts': 1,
  'sim/live.test.ts': 100_000,
  'src/finality/chain/faulty-servers.test.ts': 40,
  'src/cluster/book/row-faults.test.ts': 150,
  'src/cluster/book/table-book.test.ts': 12,
  'src/log/archive/archive.test.ts': 12,
  'src/log/books/contest-search.test.ts': 16,
  'src/log/detailed-walk.test.ts': 25,
  'src/finality/gate/published-txs.test.ts': 20,
  'src/log/store/store.test.ts': 25,
  'src/log/store/tx-index.test.ts': 12,
  'src/log/walk.test.ts': 25,
  'src/protocol/address-guard.test.ts': 10,
  'src/protocol/addresses/forms.test.ts': 5,
  'src/protocol/addresses/ordinary-text.test.ts': 40_000,
  'src/publish/commit-queue.test.ts': 40,
  'src/serve/stream/stream-model.test.ts': 25,
  'src/tlog/proof.test.ts': 300,
  'src/verify/attacks.test.ts': 150,
  'src/verify/audit.test.ts': 12,
  'src/verify/growing.test.ts': 25,
  'src/verify/history.test.ts': 15,
}
