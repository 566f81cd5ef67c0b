import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { EngineMessage, LogEngine } from '../../engine/log-engine.ts'
import type { Book } from './replica-book.ts'
import type { ForkBranches } from './tail-check.ts'
import { openTailCheck } from './tail-check.ts'

const MESSAGE_BYTES = 10

/** Messages at places 1 to `end`: those of a branch have another text from place 3 on. */
const messagesOf = (branch: string, end: number): readonly EngineMessage[] =>
  Array.from({ length: end }, (_, index) => {
    const text = `${index < 2 ? 'both' : branch} ${index + 1}`
    return { place: index + 1, bytes: Buffer.from(text.padEnd(MESSAGE_BYTES)) }
  })

/** The evidence of a node that has its own messages up to an end, of an engine that gives two messages a page. */
async function evidenceOf(ours: readonly EngineMessage[], engine: readonly EngineMessage[]): Promise<string> {
  const kept: ForkBranches[] = []
  const book: Pick<Book, 'applied' | 'kept'> = {
    applied: () => ({ place: ours.at(-1)?.place ?? 0, digest: new Uint8Array(32) }),
    kept: (from) => ours.filter(({ place }) => place >= from),
  }
  const log: Pick<LogEngine, 'last' | 'read'> = {
    last: async () => engine.length,
    read: async (from) => engine.slice(from - 1, from + 1),
  }
  const evidence = { keep: (branches: ForkBranches) => void kept.push(branches) }
  const tail = openTailCheck({
    book: book as Book,
    log: log as LogEngine,
    evidence,
    evidenceBytesMax: 3 * MESSAGE_BYTES,
  })
  const count = await tail.keepBranches()
  const [branches] = kept
  assert.ok(branches !== undefined && kept.length === 1)
  assert.equal(branches.ours.length + branches.engine.length, count)
  const placesOf = (messages: readonly EngineMessage[]): string =>
    messages.map(({ place }) => place).join(' ')
  return `${placesOf(branches.ours)} | ${placesOf(branches.engine)}`
}

suite('both branches of a fork', () => {
  test('are kept from the first place where they differ, each up to a number of bytes', async () => {
    assert.equal(await evidenceOf(messagesOf('a', 4), messagesOf('b', 5)), '3 4 | 3 4 5')
    assert.equal(await evidenceOf(messagesOf('a', 9), messagesOf('b', 90)), '3 4 5 | 3 4 5')
  })

  test('are kept from the newest message when the engine has the branch of this node', async () => {
    assert.equal(await evidenceOf(messagesOf('a', 4), messagesOf('a', 6)), '4 | 4 5 6')
  })

  test('are kept when the engine ends before this node', async () => {
    assert.equal(await evidenceOf(messagesOf('a', 4), messagesOf('a', 3)), '4 | ')
    assert.equal(await evidenceOf(messagesOf('a', 4), []), '1 2 3 | ')
  })
})
