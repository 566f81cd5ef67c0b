import { openDemoChain, type PublishedPayments } from '../../../sim/chain/demo-chain.ts'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import type { LogReader } from '../../log/store/reader.ts'
import { type DaybookEvent, parseEvent } from '../../protocol/event.ts'
import type { Ms } from '../../protocol/moment.ts'
import { BEFORE_FIRST, nextSeq } from '../../protocol/seq.ts'

/** Pretend chain of the demonstration, with its RPC server. */
type DemoPayments = AsyncDisposable &
  Readonly<{
    /** Address of the RPC server. */
    url: string
    /** Account that makes all payouts, and their token. */
    payer: string
    token: string
    /** Sends a transaction to the chain. */
    send(tx: string): void
    /** Takes the log. From now on, the chain knows the transactions of published events. */
    know(reader: LogReader): void
  }>

export async function openDemoPayments(seed: string, now: () => Ms): Promise<DemoPayments> {
  let log: LogReader | null = null
  const published: PublishedPayments = {
    names: (tx) => log !== null && eventsOf(log, tx).length > 0,
    // A payment that was made stays made, so a correction takes nothing away.
    paidIn: (tx) =>
      (log === null ? [] : eventsOf(log, tx))
        .filter(({ type }) => type === 'payout')
        .reduce((sum, { kots }) => sum + (kots ?? 0n), 0n),
  }
  const { chain, payer, token, send } = openDemoChain(seed, now, published)
  const rpc = await openRpcServer({ chain, cors: true })
  return {
    url: rpc.url,
    payer,
    token,
    send,
    know(reader) {
      log = reader
    },
    [Symbol.asyncDispose]: rpc.close,
  }
}

const EVERY_EVENT = { types: null, kinds: null, contestIds: null, nonzero: false } as const

/** Events of one transaction that are looked at. The simulator names a transaction in one event. */
const EVENTS_MAX = 1_000

function eventsOf(reader: LogReader, tx: string): readonly DaybookEvent[] {
  return reader.snapshot((snapshot) => {
    const range = { after: BEFORE_FIRST, before: nextSeq(snapshot.head.seq), order: 'asc' } as const
    const bounds = { limit: EVENTS_MAX, examineMax: EVENTS_MAX }
    const { bytes } = snapshot.walk({ filter: EVERY_EVENT, tx, ...range, ...bounds }, 'ndjson')
    return new TextDecoder().decode(bytes).split('\n').filter(Boolean).map(parseEvent)
  })
}
