import type { DatabaseSync } from 'node:sqlite'
import type { HighWater } from '../../log/store/high-water.ts'
import { StoreError } from '../../log/store/store.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { openSignedTrees } from '../../log/tree/signed-trees.ts'
import { haveSameTree } from '../../log/tree/stored-tree.ts'
import type { Tally } from '../../project/fold/tally.ts'
import { contestsOf, sumOfAccounts } from '../../project/fold/ledger.ts'

/** Number of events after `after`, up to `upTo`, with the same lines and signatures in both stores. */
export function sameEvents(db: DatabaseSync, after: number, upTo: number): number {
  const row = db
    .prepare(
      `SELECT count(*) AS count FROM old.events o JOIN main.events n ON n.seq = o.seq
       LEFT JOIN old.details od ON od.seq = o.seq LEFT JOIN main.details nd ON nd.seq = n.seq
       WHERE o.seq > ? AND o.seq <= ?
         AND n.line = o.line AND n.leaf = o.leaf AND n.signature IS o.signature AND nd.line IS od.line`,
    )
    .get(after, upTo)
  return Number(row?.['count'])
}

/**
 * Proves a new store before it replaces the old one, in a time that hardly depends on the length of the log. Throws a
 * StoreError with what differs.
 */
export function proveUpgrade(
  db: DatabaseSync,
  old: DatabaseSync,
  tally: Tally,
  mark: HighWater | null,
  keys: readonly SigningKey[],
): void {
  const [head, oldHead] = [headOf(db), headOf(old)]
  demand(head === oldHead, `it ends at seq ${head} and the old one at ${oldHead}`)
  demand(haveSameTree(db, old, head), 'its tree has another root')
  const fault = faultAtStart(db, mark, keys)
  // A loss is of the old store too, and the next start judges it.
  demand(fault === null || fault.lost, fault?.reason ?? '')
  const wrong = openSignedTrees(db).firstWrong()
  demand(wrong === null, `the tree at seq ${wrong?.upTo} is not the one that was signed`)
  for (const [name, differing] of COMPARISONS)
    demand(db.prepare(`SELECT 1 FROM (${differing})`).get() === undefined, `${name} differ`)
  demand(sumOfAccounts(tally) === 0n, 'the accounts do not add up to zero')
  demand(BigInt(countOf(db, 'main.contests')) === contestsOf(tally), 'it holds another number of contests')
  demand(countOf(db, 'main.refs') === countOf(db, 'old.refs'), 'it holds another number of refs')
}

/** Queries whose rows are differences between the two stores. */
const COMPARISONS: readonly (readonly [name: string, sql: string])[] = [
  [
    'the manifests of closed months',
    bothWays('months', 'month, first_seq, last_seq, events, closed, manifest'),
  ],
  [
    'the segments of month files',
    bothWays('segments', 'month, file, start, last_seq, length(bytes), bytes_crc'),
  ],
  ['the signing keys', bothWays('signing_keys', 'vkey, from_size, to_size, statement')],
]

function bothWays(table: string, columns: string): string {
  const [ours, theirs] = [`SELECT ${columns} FROM main.${table}`, `SELECT ${columns} FROM old.${table}`]
  return `SELECT * FROM (${ours} EXCEPT ${theirs}) UNION ALL SELECT * FROM (${theirs} EXCEPT ${ours})`
}

function demand(holds: boolean, reason: string): void {
  if (holds) return
  throw new StoreError(
    `the new store is not used: ${reason}. The old store is unchanged: check it with the version that wrote it, or restore a backup`,
  )
}

function countOf(db: DatabaseSync, table: 'main.contests' | 'main.refs' | 'old.refs'): number {
  return Number(db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
}
