import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection } from '../../src/engine/log-engine.ts'
import { openNodeKey } from '../../src/log/message/node-key.ts'
import { openForWriting, storePath } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { draftDigest } from '../../src/publish/admission/grammar.ts'
import type { OperatorStep } from '../../src/publish/book/operator-step.ts'
import type { StoreBook } from '../../src/publish/book/store-book.ts'
import { openBook } from '../../src/publish/book/store-book.ts'
import { joinLog } from '../../src/publish/cluster/join-log.ts'
import { APPLIED_MESSAGES_MAX } from '../../src/publish/replica/replica-book.ts'
import { TEST_KEY } from '../../test/story/signing.ts'
import { tradeDraft } from '../../test/story/trade-draft.ts'

/** Bytes of one question for messages, as a writer asks. */
const READ_BYTES = 8 * 1024 * 1024

/** The books of a writer in this process, with the loops that a writer runs. */
export type GrowthNode = Disposable &
  Readonly<{
    db: DatabaseSync
    book: StoreBook
    /** Applies messages up to a place, 256 at most in a transaction. `onSlice` may end it by answering false. */
    follow(connection: EngineConnection, upTo: number, onSlice?: () => boolean): Promise<void>
    /** Publishes one event: builds, appends and commits it. */
    publish(connection: EngineConnection): Promise<void>
    /** Appends a step of the operator. */
    step(connection: EngineConnection, step: OperatorStep): Promise<void>
    /** Bytes of the store on the disk. */
    storeBytes(): number
  }>

/** Opens the node of a directory, which joins the log when it is empty. */
export async function openGrowthNode(
  dataDirectory: string,
  connect: (stream: number) => Promise<EngineConnection>,
): Promise<GrowthNode> {
  const keys = [TEST_KEY]
  const { signal } = new AbortController()
  const wait = (reason: string): Promise<never> => Promise.reject(new Error(reason))
  await joinLog({ dataDirectory, keys, connect, signal, wait })
  const path = storePath(dataDirectory)
  const db = openForWriting(path)
  const book = openBook({ db, keys, nodeKey: openNodeKey(dataDirectory), asksChain: false })

  async function append({ log }: EngineConnection): Promise<void> {
    const bytes = book.message()
    if (bytes === null) throw new Error('something was built')
    const answer = await log.append(book.applied().place + 1, bytes)
    if (answer !== 'appended') throw new Error(`an append ended with ${answer}`)
    book.commit(bytes)
  }

  return {
    db,
    book,
    async follow({ log }, upTo, onSlice = () => true) {
      while (book.applied().place < upTo) {
        const messages = await log.read(book.applied().place + 1, READ_BYTES)
        if (messages.length === 0) throw new Error('the engine shows no message')
        for (let at = 0; at < messages.length; at += APPLIED_MESSAGES_MAX) {
          book.apply(messages.slice(at, at + APPLIED_MESSAGES_MAX))
          if (!onSlice()) return
        }
      }
    },
    async publish(connection) {
      book.begin()
      const ref = `growth-${book.applied().stream}-${book.applied().place}`
      const draft = tradeDraft(ref)
      const { atMs } = book.appender.head()
      book.appender.append(draft, { ref, digest: draftDigest(draft) }, atMs ?? msOf(0))
      book.appender.keep()
      await append(connection)
    },
    async step(connection, step) {
      book.begin()
      book.build(step)
      await append(connection)
    },
    storeBytes: () => statSync(path).size,
    [Symbol.dispose]: () => db.close(),
  }
}
