import type { TokenAccount } from '../../finality/chain/tx-verdict.ts'
import type { CheckSteps, Log, SignedCheckpoint } from './island-verify-log.ts'
import type { ProvedEvent } from './island-verify-tree.ts'

/** Fields that the reader fills in to ask a blockchain: URLs of RPC servers, and the paying account if it is known. */
export type ChainFields = Readonly<{ urls: readonly string[]; account: TokenAccount | null }>

/** Transactions of a month, which are asked about at its end. */
export type MonthTransactions = Readonly<{
  /** Takes the next event and its details line. */
  add(line: string, details: string | null): void
  ask(): CheckSteps
}>

/**
 * Checks against a blockchain. Only the saved verifier has them, because the policy of a served page allows requests to its
 * own server alone.
 */
export type ChainChecks = Readonly<{
  /** The event is proved in the tree of the checkpoint `now`. */
  payment(log: Log, event: ProvedEvent, fields: ChainFields, now: SignedCheckpoint): CheckSteps
  openMonth(log: Log, fields: ChainFields): CheckSteps<MonthTransactions>
}>

/** The checks against a blockchain, with the fields for them. */
export type OnChain = ChainChecks & Readonly<{ fields: ChainFields }>

/** Witnesses that the reader names: lines of keys, and how many names must vouch; null for the usual number. */
export type WitnessFields = Readonly<{ vkeys: readonly string[]; quorum: number | null }>

type LogSteps = typeof import('./island-verify-log.ts')
type TreeSteps = typeof import('./island-verify-tree.ts')

/** Steps that the checks of witnesses share with the other checks. Their module gets them here, so that it has no second copy. */
export type SharedSteps = Pick<
  LogSteps,
  | 'fetchNewestCheckpoint'
  | 'NotServed'
  | 'openEd25519'
  | 'servedBytes'
  | 'servedText'
  | 'sha256Sync'
  | 'signedCheckpoint'
> &
  Pick<TreeSteps, 'checkGrowth' | 'provedEvent'>

/** Reads the fields for witnesses. A key has no space, and is on a line of its own. */
export function readWitnessFields(valueOf: (name: string) => string): WitnessFields {
  const quorum = valueOf('quorum')
  return {
    vkeys: valueOf('witnesses')
      .split(/\s+/)
      .filter((vkey) => vkey !== ''),
    quorum: quorum === '' ? null : Number(quorum),
  }
}

/** Reads the fields of the saved verifier; null on a page without them, or when no server is named. */
export function readChainFields(valueOf: (name: string) => string): ChainFields | null {
  const urls = valueOf('rpc')
    .split(/[\s,]+(?=https?:)/)
    .filter((url) => url !== '')
  const [payer, token] = [valueOf('payer'), valueOf('token')]
  return urls.length === 0 ? null : { urls, account: payer === '' || token === '' ? null : { payer, token } }
}
