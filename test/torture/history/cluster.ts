import type { Random } from '../../../sim/random.ts'
import type { SendPayment } from './contest-drafts.ts'
import type { AuditFault, History, SentRequest } from './history.ts'

/** A running node of a cluster. Addresses stay the same while the node is down; relays answer there. */
export type ClusterNode = Readonly<{
  name: string
  kind: 'writer' | 'mirror'
  /** Data directory. */
  data: string
  /** Public base URL of the process itself. Null while it is down. */
  url(): string | null
  /** Base URL of the publish API, through a relay. Null for a mirror. */
  publishUrl: string | null
  /** Last lines of standard error. */
  said(): string
}>

/** A fault that took effect. `heal` ends it, and restarts what it has stopped. */
export type FiredFault = Readonly<{ heal(): Promise<void> }>

/** A fault of the cluster. `fire` resolves with null when it met nothing to break. */
export type ClusterFault = Readonly<{
  name: string
  /** Part of the cluster that it breaks. Two faults at a time have different places. */
  place: string
  /** Whether no other fault may join it: together they could break what no promise covers. */
  isAlone?: boolean
  fire(): Promise<FiredFault | null>
}>

/** History that a companion has recorded. */
type CompanionHistory = Partial<Pick<History, 'outbox' | 'witnessed' | 'backups'>>

/** A program beside the nodes, which uses them or is used by them while faults are fired at it too. */
export type Companion = Readonly<{
  faults: readonly ClusterFault[]
  /** Starts what it does, once the nodes run. */
  begin(nodes: readonly ClusterNode[]): void
  /** Reads what the nodes say about it. Called often. A node that is down says nothing. */
  look(): Promise<void>
  /** Resolves when everything that it sends is in the log. */
  pause(): Promise<void>
  /** Resolves when it has taken in the whole log, while nobody publishes. */
  settled(size: number): Promise<void>
  resume(): void
  /** Options with which `daybook verify` audits a node. */
  verifyWords: readonly string[]
  /** Ends it. The nodes still run. */
  end(): Promise<
    Readonly<{
      history: CompanionHistory
      faults: readonly AuditFault[]
      counts: Readonly<Record<string, number>>
    }>
  >
}>

/** Nodes and the engine that carries their log, with the faults that can be fired at them. */
export type Cluster = AsyncDisposable &
  Readonly<{
    nodes: readonly ClusterNode[]
    token: string
    /** Pays on the chain of the log. Null when the nodes ask no chain. */
    pay: SendPayment | null
    faults: readonly ClusterFault[]
    companions: readonly Companion[]
    /** Moment from which each transaction is final; null for one that never is. */
    finals(): History['finals']
    /** Resolves when the engine has a leader. Rejects after a time limit. */
    hasLeader(): Promise<void>
    /** Stops all nodes with SIGTERM. Resolves with those that did not end with code 0. */
    stop(): Promise<readonly string[]>
    /** Audits of the cluster besides `verify` and `check`, once the nodes are stopped. */
    audit?(): Promise<readonly AuditFault[]>
    /** Requests before the run whose events the log has. */
    before?: readonly SentRequest[]
  }>

/** A second fault joins the first this often. */
const PAIRS = 0.3

/** One or two faults of different places, of those that have been fired least. */
export function chosenFaults(
  faults: readonly ClusterFault[],
  fired: Readonly<Record<string, number>>,
  random: Random,
): readonly ClusterFault[] {
  const rank = faults.map((fault) => ({
    fault,
    rank: (fired[fault.name] ?? 0) + random.next(),
  }))
  const [first, ...others] = rank.toSorted((a, b) => a.rank - b.rank).map(({ fault }) => fault)
  const mayJoin = first?.isAlone !== true && random.chance(PAIRS)
  const second = mayJoin
    ? others.find(({ place, isAlone }) => place !== first?.place && isAlone !== true)
    : undefined
  return [first, second].filter((fault) => fault !== undefined)
}
