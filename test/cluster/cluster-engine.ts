import type { LogEngine } from '../../src/engine/log-engine.ts'
import type { ClusterFault } from './cluster.ts'

/** The engine of a cluster, with real servers. */
export type ClusterEngine = AsyncDisposable &
  Readonly<{
    /** The stream of the log, which is empty. */
    log: LogEngine
    /** Port of each server on this machine. A node reaches them through relays of its own. */
    ports: readonly number[]
    /** Options of a writer that reaches the servers at these ports. */
    words(ports: readonly number[]): readonly string[]
    faults: readonly ClusterFault[]
    /** Resolves when an append can succeed. Rejects after a time limit. */
    hasLeader(): Promise<void>
  }>
