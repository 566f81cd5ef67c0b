import type {
  ClusterNode,
  ClusterNodeSettings,
  CommitAnswer,
} from '../../../src/cluster/node/cluster-node.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { openClusterNode } from '../../../src/cluster/node/open-node.ts'
import {
  DiskFull,
  type MemoryBook,
  type ModelAnswer,
  type ModelDisk,
  type ModelDraft,
  openMemoryBook,
} from './memory-book.ts'
import type { MemoryTable, ModelLink } from './memory-table.ts'
import type { ModelClock } from '../../stage/virtual-clock.ts'
import type { Mutant } from './mutant.ts'

/** A process of a model node. */
type Run = Readonly<{
  node: ClusterNode
  link: ModelLink
  book: MemoryBook
  died: Promise<'died'>
  die(): void
}>

/** A node of the model: a disk, and the process that uses it. */
export type ModelNode = Readonly<{
  name: string
  disk: ModelDisk
  /** Evidence of a fork: rows of each branch. */
  evidence: ReadonlyMap<string, readonly TableRow[]>
  run(): Run | null
  start(): void
  /** Ends the process at once. What it sent may still arrive. */
  crash(): void
  /** Closes the process as an operator does, and then ends it. */
  close(): Promise<void>
  submit(drafts: readonly ModelDraft[]): Promise<CommitAnswer<ModelAnswer> | 'died'>
}>

type NodeParts = Readonly<{
  table: MemoryTable
  clock: ModelClock
  first: Uint8Array
  onSigned(size: number, root: string): void
  mutant: Mutant
  onBooks?: ClusterNodeSettings['onBooks']
}>

export function openModelNode(
  name: string,
  { table, clock, first, onSigned, mutant, onBooks = () => undefined }: NodeParts,
): ModelNode {
  const disk: ModelDisk = { rows: [first], isFull: false, isBroken: false }
  const evidence = new Map<string, readonly TableRow[]>()
  let run: Run | null = null
  let isClosing = false
  /** Whether the next process must start when this one is closed. */
  let mustStart = false

  function start(): void {
    mustStart = isClosing
    if (run !== null || isClosing) return
    const death = Promise.withResolvers<'died'>()
    let isDead = false
    const book = openMemoryBook(disk, onSigned)
    const link = table.connect()
    const node = openClusterNode({
      book: mutant.book?.(book) ?? book,
      table: mutant.table?.(link.table, book) ?? link.table,
      primary: null,
      // The timers of a dead process never ring.
      timers: {
        now: clock.now,
        sleep: (ms, signal) => link.sleep(ms, signal).then(() => (isDead ? NEVER : undefined)),
      },
      evidence: {
        keep(branches) {
          for (const [branch, rows] of Object.entries(branches)) evidence.set(branch, rows)
        },
      },
      mayRetry: (error) => error instanceof DiskFull,
      accepts: () => disk.isTight !== true,
      onBooks,
      onNotice: () => undefined,
    })
    const die = (): void => {
      isDead = true
      book.kill()
      link.cut()
      death.resolve('died')
    }
    run = { node, link, book, died: death.promise, die }
  }

  return {
    name,
    disk,
    evidence,
    run: () => run,
    start,
    crash() {
      mustStart = false
      run?.die()
      run = null
    },
    async close() {
      const closing = run
      run = null
      isClosing = true
      await closing?.node[Symbol.asyncDispose]()
      closing?.die()
      isClosing = false
      if (mustStart) start()
    },
    async submit(drafts) {
      if (run === null) return { is: 'not-leading', reason: 'the node is not running' }
      const { book, died, node } = run
      const result = await Promise.race([node.commit(() => book.publish(drafts)), died])
      return result === 'died' ? result : (mutant.result?.(result) ?? result)
    },
  }
}

/** Settles never. */
const NEVER = new Promise<undefined>(() => undefined)
