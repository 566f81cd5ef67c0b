import type { SigningKey } from '../../log/tree/signer.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { Committed } from './commit-queue.ts'
import type { PublishOutcome } from './door.ts'
import type { OperationsAnswer, OperationsPath } from './operations.ts'

/** What the writer's thread is started with. */
export type WriterSettings = Readonly<{
  dataDirectory: string
  /** The head cell's shared memory. */
  head: SharedArrayBuffer
  host: string
  port: number
  tokens: readonly string[]
  chain: Chain
  balances: 'refuse' | 'report'
  /** They sign every tree that is made visible. */
  keys: readonly SigningKey[]
  /** Holds the present instead of the machine's clock (`openSharedClock`). */
  clock?: SharedArrayBuffer | undefined
}>

/** What the writer's thread tells the main thread. */
export type FromWriter =
  | Readonly<{ is: 'listening'; port: number }>
  | Readonly<{ is: 'committed'; committed: Committed }>
  | Readonly<{ is: 'requests'; outcomes: ReadonlyMap<PublishOutcome, number> }>
  | Readonly<{ is: 'irregular'; field: string }>
  | Readonly<{ is: 'operations'; id: number; path: OperationsPath; accepting: boolean }>
  | Readonly<{ is: 'room'; room: boolean }>
  | Readonly<{ is: 'failure'; reason: string }>
  | Readonly<{ is: 'broken'; reason: string }>

/** What the main thread tells the writer's. */
export type ToWriter =
  | Readonly<{ is: 'operations'; id: number; answer: OperationsAnswer }>
  | Readonly<{ is: 'stopping' }>
  | Readonly<{ is: 'close' }>
