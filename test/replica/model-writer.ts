import type { EngineMessage } from '../../src/engine/log-engine.ts'
import type { Replica } from '../../src/publish/replica/replica.ts'
import { openReplica } from '../../src/publish/replica/replica.ts'
import type { CommitResult } from '../../src/publish/replica/commit-jobs.ts'
import type { Timers } from '../../src/publish/replica/replica-clock.ts'
import type { MemoryConnection, MemoryEngine } from '../engine/memory-engine.ts'
import type { MemoryBook, ModelAnswer, ModelDisk, ModelDraft } from './memory-book.ts'
import { DiskFull, openMemoryBook } from './memory-book.ts'
import { EPOCH_MS, MODEL_VERIFIER, modelSigner } from '../messages/model-keys.ts'
import type { MarkKeys } from '../../src/publish/marks/sealed-mark.ts'
import type { Mutant } from './mutant.ts'

/** A process of a model writer. */
type Run = Readonly<{
  replica: Replica
  connection: MemoryConnection
  book: MemoryBook
  died: Promise<'died'>
  die(): void
}>

/** A writer of the model: a disk, and the process that uses it. */
export type ModelWriter = Readonly<{
  name: string
  disk: ModelDisk
  /** Evidence of a fork: messages of each branch. */
  evidence: ReadonlyMap<string, readonly EngineMessage[]>
  run(): Run | null
  start(): void
  /** Ends the process at once. What it sent may still arrive. */
  crash(): void
  /** Closes the process as an operator does, and then ends it. */
  close(): Promise<void>
  submit(drafts: readonly ModelDraft[]): Promise<CommitResult<ModelAnswer> | 'died'>
}>

type WriterSettings = Readonly<{
  engine: MemoryEngine
  timers: Timers
  random(): number
  onSigned(size: number, root: string): void
  mutant: Mutant
  /** Number of the engine's stream; 1 if absent. */
  stream?: number
  /** Whether the next stream has begun; it has not if absent. */
  hasNextStream?: () => Promise<boolean>
}>

/** Opens a writer. By default its node has its name and a key of its own. */
export function openModelWriter(
  name: string,
  settings: WriterSettings,
  claims: Readonly<{ node?: string; key?: string }> = {},
): ModelWriter {
  const { engine, timers, random, onSigned, mutant, stream = 1, hasNextStream } = settings
  const disk: ModelDisk = { messages: [], isFull: false, isBroken: false, isTight: false }
  const keys: MarkKeys = { node: modelSigner(claims.key ?? name), verifier: MODEL_VERIFIER }
  const evidence = new Map<string, readonly EngineMessage[]>()
  const known = new Set<string>()
  let run: Run | null = null
  let runs = 0
  let isClosing = false
  /** Whether the next process must start when this one is closed. */
  let mustStart = false

  function start(): void {
    mustStart = isClosing
    if (run !== null || isClosing) return
    runs += 1
    const id = `${name} ${runs}`
    const death = Promise.withResolvers<'died'>()
    let isDead = false
    const book = openMemoryBook(disk, onSigned)
    const connection = engine.connect()
    const replica = openReplica({
      book: mutant.book?.(book) ?? book,
      connection: mutant.connection?.(connection, book) ?? connection,
      // The timers of a dead process never ring.
      timers: {
        now: timers.now,
        sleep: (ms, signal) => timers.sleep(ms, signal).then(() => (isDead ? NEVER : undefined)),
      },
      random,
      own: () => ({
        node: claims.node ?? name,
        run: id,
        logId: 'model',
        stream,
        seq: 0,
        root: '',
        program: 'model',
        frames: [1],
        keys: [],
        rules: '',
      }),
      keys: () => keys,
      nowMs: () => EPOCH_MS + timers.now(),
      known: { names: () => [...known], add: (other) => void known.add(other) },
      ...(hasNextStream !== undefined && { hasNextStream }),
      evidence: {
        keep(branches) {
          for (const [branch, messages] of Object.entries(branches)) evidence.set(branch, messages)
        },
      },
      mayRetry: (error) => error instanceof DiskFull,
      accepts: () => !disk.isTight,
      onBooks: () => undefined,
      onNotice: () => undefined,
    })
    const die = (): void => {
      isDead = true
      book.kill()
      connection.cut()
      death.resolve('died')
    }
    run = { replica, connection, book, died: death.promise, die }
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
      await closing?.replica[Symbol.asyncDispose]()
      closing?.die()
      isClosing = false
      if (mustStart) start()
    },
    async submit(drafts) {
      if (run === null) return { is: 'unavailable', reason: 'the writer is not running' }
      const { book, died, replica } = run
      const result = await Promise.race([replica.commit(() => book.publish(drafts)), died])
      return result === 'died' ? result : (mutant.result?.(result) ?? result)
    },
  }
}

/** Settles never. */
const NEVER = new Promise<undefined>(() => undefined)
