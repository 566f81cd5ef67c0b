import type { SendPayment } from './contest-drafts.ts'

/** A running node of a cluster. Addresses stay the same while the node is down; relays answer there. */
export type ClusterNode = Readonly<{
  name: string
  kind: 'writer' | 'mirror'
  /** Data directory. */
  data: string
  /** Public base URL of the process itself. Null while it is down. */
  url(): string | null
  /** Base URL of the publish door, through a relay. Null for a mirror. */
  door: string | null
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
  fire(): Promise<FiredFault | null>
}>

/** Nodes and the engine that carries their log, with the faults that can be fired at them. */
export type Cluster = AsyncDisposable &
  Readonly<{
    nodes: readonly ClusterNode[]
    token: string
    /** Pays on the chain of the log. Null when the nodes ask no chain. */
    pay: SendPayment | null
    faults: readonly ClusterFault[]
    /** Resolves when the engine has a leader. Rejects after a time limit. */
    hasLeader(): Promise<void>
    /** Stops all nodes with SIGTERM. Resolves with those that did not end with code 0. */
    stop(): Promise<readonly string[]>
  }>
