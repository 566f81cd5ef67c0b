import type { DatabaseSync } from 'node:sqlite'
import { add, type Amount, ZERO } from '../../protocol/amount.ts'
import type { Draft } from '../../protocol/draft.ts'
import { type DaybookEvent, parseEvent } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { canonicalTx } from '../../protocol/tx.ts'
import { number, text } from '../../log/store/codec.ts'
import { txKey } from '../../log/store/tx-index.ts'

/** A published event that names a transaction. */
type PublishedTx = Readonly<{
  seq: number
  tx: string
  /** Whether the operator vouched for its transaction. */
  vouched: boolean
}>

/** Transactions of published events, for queries to their chain. */
export type PublishedTxs = Readonly<{
  /** Seq before the first event at or after a moment. */
  seqBefore(moment: Ms): number
  /**
   * First `max` uncorrected events after a seq that name a transaction. Reads a limited number of events: `scannedTo`
   * is the last one; null at the end of the log.
   */
  after(seq: number, max: number): Readonly<{ events: readonly PublishedTx[]; scannedTo: number | null }>
  /** Sum of the uncorrected payouts that name a transaction, in either case of hex digits. */
  paidIn(tx: string): Amount
  /** Whether an uncorrected event has the draft's transaction, type, kind, contest and amount. */
  hasPayment(draft: Draft): boolean
}>

/** Most events of one read. */
const SCANNED_MAX = 1_000
/** End of the line of an event without a transaction, and start of the field of another. */
const NO_TX = '"tx":null}'
const TX_FIELD = '"tx":"'

/** Opens the transactions of published events. */
export function openPublishedTxs(db: DatabaseSync): PublishedTxs {
  const head = db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events')
  const at = db.prepare('SELECT at FROM events WHERE seq = ?')
  const page = db.prepare(
    `SELECT e.seq, e.line, EXISTS (SELECT 1 FROM vouched AS v WHERE v.seq = e.seq) AS vouched FROM events AS e
     WHERE e.seq > $after AND e.seq <= $to AND substr(e.line, -length($none)) <> $none
       AND NOT EXISTS (SELECT 1 FROM corrections AS c WHERE c.seq = e.seq)
     ORDER BY e.seq LIMIT $max`,
  )
  const named = db.prepare(
    `SELECT e.line FROM tx_events AS t CROSS JOIN events AS e ON e.seq = t.seq
     WHERE t.key = ?
       AND NOT EXISTS (SELECT 1 FROM corrections AS c WHERE c.seq = e.seq)`,
  )
  /** Events that name a transaction. Index keys can collide, so the transaction is compared too. */
  const eventsOf = (tx: string): readonly DaybookEvent[] =>
    named
      .all(txKey(tx))
      .map((row) => parseEvent(text(row, 'line')))
      .filter((event) => canonicalTx(event.tx ?? '') === canonicalTx(tx))
  const headSeq = (): number => number(head.get() ?? {}, 'seq')

  return {
    seqBefore(moment) {
      // Moments never decrease as seqs grow.
      let low = 0
      let high = headSeq() + 1
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2)
        if (number(at.get(middle) ?? {}, 'at') < moment) low = middle
        else high = middle
      }
      return low
    },
    after(seq, max) {
      const newest = headSeq()
      const to = Math.min(seq + SCANNED_MAX, newest)
      const events = page.all({ after: seq, to, none: NO_TX, max }).map((row) => {
        const line = text(row, 'line')
        const tx = line.slice(line.lastIndexOf(TX_FIELD) + TX_FIELD.length, -'"}'.length)
        return { seq: number(row, 'seq'), tx, vouched: number(row, 'vouched') === 1 }
      })
      const last = events.length === max ? (events.at(-1)?.seq ?? to) : to
      return { events, scannedTo: last >= newest ? null : last }
    },
    paidIn(tx) {
      return eventsOf(tx)
        .filter(({ type }) => type === 'payout')
        .reduce((sum, { kots }) => add(sum, kots ?? ZERO), ZERO)
    },
    hasPayment: ({ tx, type, kind, contestId, kots }) =>
      tx !== null &&
      eventsOf(tx).some(
        (event) =>
          event.type === type && event.kind === kind && event.contestId === contestId && event.kots === kots,
      ),
  }
}
