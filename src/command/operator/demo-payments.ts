import { openDemoChain } from '../../../sim/chain/demo-chain.ts'
import { openRpcServer } from '../../../sim/chain/rpc-server.ts'
import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import { BEFORE_FIRST, nextSeq } from '../../protocol/seq.ts'
import type { FinalitySettings } from '../../publish/finality/finality-settings.ts'

/** Pretend chain of the demonstration, with its RPC server. */
type DemoPayments = AsyncDisposable &
  Readonly<{
    /** Address of the RPC server. */
    url: string
    finality: FinalitySettings
    /** Sends a transaction to the chain. */
    send(tx: string): void
    /** Takes the reader of the log. From now on, the chain knows the transactions of published events. */
    know(reader: LogReader): void
  }>

/** Requests a minute to the pretend chain. It is asked about every transaction of some seconds. */
const REQUESTS_A_MINUTE = 600

export async function openDemoPayments(seed: string, now: () => Ms): Promise<DemoPayments> {
  let log: LogReader | null = null
  const { chain, send } = openDemoChain(seed, now, (tx) => log !== null && isPublished(log, tx))
  const rpc = await openRpcServer({ chain, cors: true })
  return {
    url: rpc.url,
    finality: { chain: 'solana', urls: [rpc.url], requestsPerMinute: REQUESTS_A_MINUTE, amounts: null },
    send,
    know(reader) {
      log = reader
    },
    [Symbol.asyncDispose]: rpc.close,
  }
}

const EVERY_EVENT = { types: null, kinds: null, contestIds: null, nonzero: false } as const

function isPublished(reader: LogReader, tx: string): boolean {
  return reader.snapshot((snapshot) => {
    const range = { after: BEFORE_FIRST, before: nextSeq(snapshot.head.seq), order: 'asc' } as const
    return snapshot.walk({ filter: EVERY_EVENT, tx, ...range, limit: 1, examineMax: 1 }, 'json').count > 0
  })
}
