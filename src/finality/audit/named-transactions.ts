import TinyQueue from 'tinyqueue'
import { assert } from '../../protocol/brand.ts'
import { add, type Amount, ZERO } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import { canonicalTx, isTx } from '../../protocol/tx.ts'
import type { Sha256 } from '../../tlog/hash.ts'
import { formatUtf8 } from '../../tlog/note.ts'

/** Age at which every server should know a published transaction as final. An EVM block is final after 13 min. */
export const RECENT_MS: number = 20 * 60_000
/** Bytes of the key, and of the hash that identifies a transaction. */
const KEY_BYTES = 32
const NAME_BYTES = 12

/** Most events with a malformed transaction that are kept. */
const MALFORMED_MAX = 1_000

/** Transaction, the uncorrected events that name it, and the sum of their payouts. */
export type NamedTransaction = Readonly<{
  tx: string
  seqs: readonly Seq[]
  paid: Amount
  /** Whether all of the events are younger than `recentFrom`. */
  isRecent: boolean
}>

/** Transactions that a run asks the chain about. */
export type ChosenTransactions = Readonly<{
  /** Number of distinct transactions that an uncorrected event names. */
  total: number
  /** Random sample without repetition. Every set of this size is equally likely. */
  sampled: readonly NamedTransaction[]
  /** Transactions with the largest payouts, without those of the sample. */
  largest: readonly NamedTransaction[]
  /** Transaction that the reader asked about; null when no uncorrected event names it. */
  wanted: NamedTransaction | null
  /** Uncorrected events whose transaction lacks the form of the chain. If there are many, only the first. */
  malformed: readonly Seq[]
}>

/**
 * Distinct transactions of a log that is read once, at most 2^24. Memory is about 10 bytes for each event, 100 for each
 * transaction, and 200 more for each transaction of a payout.
 */
export type NamedTransactions = Readonly<{
  /** Takes the next entry, in the order of the log. */
  add(entry: Entry): void
  choose(): ChosenTransactions
}>

type NamedSettings = Readonly<{
  /** 32 random bytes, drawn after the checkpoint was verified, so that nobody can know the sample before. */
  key: Uint8Array
  sha256: Sha256
  chain: 'solana' | 'evm'
  /** Moment after which a server may not yet know a transaction as final: `RECENT_MS` ago. */
  recentFrom: Ms
  sample: number
  largest: number
  /** Transaction to choose in any case; null for none. */
  wanted: string | null
}>

type Candidate = Readonly<{ index: number; tx: string; rank: number }>
type PaidTransaction = Readonly<{ index: number; tx: string; paid: Amount }>

/** Opens an empty set of transactions. */
export function openNamedTransactions(settings: NamedSettings): NamedTransactions {
  const { chain, recentFrom, sample, largest } = settings
  const numbers = openNumbers(settings)
  const naming = openNamingEvents()
  const paid = new Map<number, PaidTransaction>()
  const malformed = new Set<Seq>()
  const wantedTx = settings.wanted === null ? null : canonicalTx(settings.wanted)
  let wanted: Readonly<{ index: number; tx: string }> | null = null
  let firstRecent: Seq | null = null
  // Twice the sample, because corrections may remove some of them.
  const candidates = openCandidates(2 * sample)

  function name({ event }: Entry, tx: string): void {
    if (!isTx(chain, tx)) {
      if (malformed.size < MALFORMED_MAX) malformed.add(event.seq)
      return
    }
    const { index, rank, isNew } = numbers.of(tx)
    naming.add(event.seq, index)
    if (tx === wantedTx) wanted = { index, tx }
    if (isNew) candidates.add({ index, tx, rank })
    if (event.type === 'payout') pay(index, tx, event.kots ?? ZERO)
  }

  function pay(index: number, tx: string, kots: Amount): void {
    paid.set(index, { index, tx, paid: add(paid.get(index)?.paid ?? ZERO, kots) })
  }

  function cancel({ event, details }: Entry): void {
    const { corrects } = details ?? {}
    if (corrects === undefined) return
    malformed.delete(corrects)
    const index = naming.remove(corrects)
    const before = paid.get(index ?? -1)
    // The kind of a correction is the type that it corrects.
    if (before !== undefined && event.kind === 'payout') pay(before.index, before.tx, event.kots ?? ZERO)
  }

  return {
    add(entry) {
      const { type, tx, seq, atMs } = entry.event
      if (atMs >= recentFrom) firstRecent ??= seq
      if (type === 'correction') cancel(entry)
      else if (tx !== null) name(entry, canonicalTx(tx))
    },
    choose() {
      const drawn = candidates
        .lowest()
        .filter(({ index }) => naming.isNamed(index))
        .slice(0, sample)
      const known = new Set(drawn.map(({ index }) => index))
      const most = largestOf(paid.values(), largest).filter(({ index }) => !known.has(index))
      const own = wanted !== null && naming.isNamed(wanted.index) ? wanted : null
      const all = [...drawn, ...most, ...(own === null ? [] : [own])]
      const seqs = naming.seqsOf(new Set(all.map(({ index }) => index)))
      const named = ({ index, tx }: Readonly<{ index: number; tx: string }>): NamedTransaction => {
        const events = seqs.get(index) ?? []
        const isRecent = firstRecent !== null && (events[0] ?? 0) >= firstRecent
        return { tx, seqs: events, paid: paid.get(index)?.paid ?? ZERO, isRecent }
      }
      return {
        total: naming.named(),
        sampled: drawn.map(named),
        largest: most.map(named),
        wanted: own === null ? null : named(own),
        malformed: [...malformed],
      }
    },
  }
}

type Numbers = Readonly<{
  /** Number of a transaction, from 0 in order of appearance. `rank` has 53 random bits, fixed for each transaction. */
  of(tx: string): Readonly<{ index: number; rank: number; isNew: boolean }>
}>

/**
 * Opens the numbers of transactions, by 96 bits of the keyed hash of each. The key is random and secret, so nobody can
 * choose two transactions with the same bits, or one with a low rank.
 */
function openNumbers({ key, sha256 }: Pick<NamedSettings, 'key' | 'sha256'>): Numbers {
  assert(key.length === KEY_BYTES, `the key has ${KEY_BYTES} bytes`)
  const numbers = new Map<string, number>()
  return {
    of(tx) {
      const hash = sha256(Uint8Array.of(...key, ...formatUtf8(tx)))
      const name = String.fromCharCode(...hash.subarray(0, NAME_BYTES))
      const view = new DataView(hash.buffer, hash.byteOffset)
      const rank = view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)
      const known = numbers.get(name)
      if (known === undefined) numbers.set(name, numbers.size)
      return { index: known ?? numbers.size - 1, rank, isNew: known === undefined }
    },
  }
}

type Candidates = Readonly<{ add(one: Candidate): void; lowest(): readonly Candidate[] }>

/** Keeps the candidates with the lowest ranks, which are a random choice. */
function openCandidates(limit: number): Candidates {
  const queue = new TinyQueue<Candidate>([], (a, b) => b.rank - a.rank)
  return {
    add(one) {
      if (queue.length >= limit && one.rank >= (queue.peek()?.rank ?? 0)) return
      queue.push(one)
      if (queue.length > limit) queue.pop()
    },
    lowest: () => queue.data.toSorted((a, b) => a.rank - b.rank),
  }
}

/** Transactions with the largest sums of payouts above zero, the largest first. */
function largestOf(all: Iterable<PaidTransaction>, limit: number): readonly PaidTransaction[] {
  const found = new TinyQueue<PaidTransaction>([], (a, b) => compare(a.paid, b.paid))
  for (const one of all) {
    if (one.paid <= ZERO) continue
    found.push(one)
    if (found.length > limit) found.pop()
  }
  return found.data.toSorted((a, b) => compare(b.paid, a.paid))
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Stands for the transaction of a corrected event. */
const NONE = -1

/** Uncorrected events that name each transaction. */
type NamingEvents = Readonly<{
  add(seq: Seq, transaction: number): void
  /** Removes a corrected event. Returns its transaction; null if it named none. */
  remove(seq: Seq): number | null
  isNamed(transaction: number): boolean
  /** Number of transactions that an event names. */
  named(): number
  /** Events of some transactions, ascending. */
  seqsOf(transactions: ReadonlySet<number>): ReadonlyMap<number, readonly Seq[]>
}>

/** Opens an empty list. Transactions are numbered from 0. */
function openNamingEvents(): NamingEvents {
  /** Transaction of each event that names one, by seq. */
  const transactions: number[] = []
  const counts: number[] = []
  let named = 0
  function count(transaction: number, by: 1 | -1): void {
    const before = counts[transaction] ?? 0
    counts[transaction] = before + by
    if (before === 0) named += 1
    else if (before + by === 0) named -= 1
  }
  return {
    add(seq, transaction) {
      transactions[seq] = transaction
      count(transaction, 1)
    },
    remove(seq) {
      const found = transactions[seq] ?? NONE
      if (found === NONE) return null
      transactions[seq] = NONE
      count(found, -1)
      return found
    },
    isNamed: (transaction) => (counts[transaction] ?? 0) > 0,
    named: () => named,
    seqsOf(wanted) {
      const seqs = new Map<number, Seq[]>([...wanted].map((one) => [one, []]))
      transactions.forEach((transaction, seq) => seqs.get(transaction)?.push(seqOf(seq)))
      return seqs
    },
  }
}
