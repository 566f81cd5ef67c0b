import { type Seq, seqOf } from '../../protocol/seq.ts'

/** Events in one slab of the column. */
const SLAB_EVENTS = 65_536
const COUNTS_MIN = 1_024

/** Uncorrected events that name each transaction, in 4 bytes for each event of the log and 4 to 8 for each transaction. */
type NamingEvents = Readonly<{
  add(seq: Seq, transaction: number): void
  /** Takes a corrected event out. Returns its transaction, or null if it named none. */
  remove(seq: Seq): number | null
  isNamed(transaction: number): boolean
  /** Number of transactions that an event names. */
  named(): number
  /** Events of some transactions, ascending. */
  seqsOf(transactions: ReadonlySet<number>): ReadonlyMap<number, readonly Seq[]>
}>

/** Opens an empty column. Transactions are numbered from 0. */
export function openNamingEvents(): NamingEvents {
  const slabs: Uint32Array[] = []
  let counts = new Uint32Array(COUNTS_MIN)
  let named = 0

  const slabOf = (seq: number): Uint32Array => {
    const number = Math.floor(seq / SLAB_EVENTS)
    while (slabs.length <= number) slabs.push(new Uint32Array(SLAB_EVENTS))
    return slabs[number] ?? new Uint32Array(0)
  }

  function count(transaction: number, by: number): void {
    if (transaction >= counts.length) {
      const wider = new Uint32Array(counts.length * 2)
      wider.set(counts)
      counts = wider
    }
    const before = counts[transaction] ?? 0
    counts[transaction] = before + by
    if (before === 0) named += 1
    else if (before + by === 0) named -= 1
  }

  return {
    add(seq, transaction) {
      slabOf(seq)[seq % SLAB_EVENTS] = transaction + 1
      count(transaction, 1)
    },
    remove(seq) {
      const slab = slabOf(seq)
      const found = (slab[seq % SLAB_EVENTS] ?? 0) - 1
      if (found < 0) return null
      slab[seq % SLAB_EVENTS] = 0
      count(found, -1)
      return found
    },
    isNamed: (transaction) => (counts[transaction] ?? 0) > 0,
    named: () => named,
    seqsOf(transactions) {
      const seqs = new Map<number, Seq[]>([...transactions].map((one) => [one, []]))
      for (const [number, slab] of slabs.entries()) {
        for (const [at, found] of slab.entries()) {
          if (found > 0) seqs.get(found - 1)?.push(seqOf(number * SLAB_EVENTS + at))
        }
      }
      return seqs
    },
  }
}
