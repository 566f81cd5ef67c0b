import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { WriterFolders } from '../../../test/messages/writer-folders.ts'
import { openWriterFolders } from '../../../test/messages/writer-folders.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { readIdentity } from '../../log/store/store.ts'
import type { OperatorStep } from '../book/operator-step.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import { openBookFollower } from '../replica/book-follower.ts'
import { openReplicaClock } from '../replica/replica-clock.ts'
import { joinLog } from './join-log.ts'
import { moveFromEngine, moveToEngine } from './move-log.ts'
import { hasNextStream } from './next-stream.ts'
import { rollStream } from './roll-stream.ts'

const publish = (folders: WriterFolders, name: string, ref: string): Promise<unknown> =>
  folders.withWriter(name, ({ queue }) => queue.submit([tradeDraft(ref)]))

/** Appends one message of an operator's step, and ends there as a process that is killed. */
const take = (folders: WriterFolders, name: string, step: OperatorStep): Promise<void> =>
  folders.withWriter(name, async ({ book, path }) => {
    const ended = Promise.withResolvers<unknown>()
    path.commit(
      {
        drafts: 0,
        begins: true,
        build: () => book.build(step),
        durable: () => undefined,
        undone: () => undefined,
      },
      ended.resolve,
    )
    await ended.promise
  })

const roll = (
  folders: WriterFolders,
  name: string,
): Promise<FailedOutcome | Readonly<{ ok: true; stream: number; head: number }>> =>
  folders.withWriter(name, ({ book, path }) =>
    rollStream({
      ...folders.settings(name),
      book,
      path,
      state: () => null,
      monotonicMs: () => 0,
      sleep: () => Promise.reject(new Error('nothing is tried again')),
    }),
  )

suite('a log whose stream has ended', () => {
  test('goes on in the next one after a roll that was interrupted, when it is rolled again at any writer', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a', 'b')
    await publish(folders, 'a', 'before')
    await take(folders, 'a', { is: 'seal', why: 'roll' })
    folders.make(2)
    await folders.follow('b')
    assert.deepEqual(await roll(folders, 'b'), { ok: true, stream: 2, head: 1 })
    await folders.follow('a')
    assert.deepEqual(await roll(folders, 'a'), {
      ok: false,
      code: 'wrong-state',
      field: null,
      reason: 'this node has not heard the other writers yet: try again',
    })
    await publish(folders, 'a', 'after')
    await folders.follow('b')
    assert.deepEqual(folders.tables('a'), folders.tables('b'))
  })

  test('is not compared with the next one, in which its places have other messages', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a')
    await publish(folders, 'a', 'before')
    await take(folders, 'a', { is: 'seal', why: 'roll' })
    folders.make(2)
    const { log } = await folders.settings('a').connect(2)
    const clock = openReplicaClock(
      { now: () => 0, sleep: async () => undefined },
      new AbortController().signal,
    )
    await folders.withWriter('a', ({ book }) => {
      const { digestAt } = openBookFollower({ book, log, clock, onBooks: () => undefined })
      assert.deepEqual([1, 2, 3].map(digestAt), [undefined, undefined, undefined])
    })
  })

  test('is found in the next stream by a node whose stream has lost its seal, and not in an older one', async () => {
    using folders = openWriterFolders()
    const first = folders.make(1)
    await folders.begin('a', 'b')
    const { connect } = folders.settings('b')
    const isFound = (seq: number): Promise<boolean> =>
      folders.withWriter('b', ({ db }) =>
        hasNextStream(connect, { logId: readIdentity(db).id, stream: 1, seq }),
      )
    await publish(folders, 'a', 'before')
    await folders.follow('b')
    assert.equal(await isFound(1), false, 'there is no such stream')
    await take(folders, 'a', { is: 'seal', why: 'roll' })
    folders.make(2)
    assert.equal(await isFound(1), false, 'it has no message')
    await roll(folders, 'a')
    first.loseTail(1, true)
    assert.equal(await isFound(1), true)
    assert.equal(await isFound(2), false, 'this node has more events')
    assert.equal(await hasNextStream(connect, { logId: 'another', stream: 1, seq: 1 }), false)
  })

  test('is not found in streams that it has left by a move off the engine, also without an event since', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a')
    const settings = folders.settings('a')
    for (const stream of [2, 3]) {
      await take(folders, 'a', { is: 'seal', why: 'roll' })
      folders.make(stream)
      await roll(folders, 'a')
    }
    const logId = await folders.withWriter('a', ({ db }) => readIdentity(db).id)
    const own = { logId, stream: 1, seq: 0 }
    assert.equal(await hasNextStream(settings.connect, own), true)
    await moveFromEngine(settings)
    folders.make(1)
    await moveToEngine(settings)
    assert.equal(await hasNextStream(settings.connect, own), false)
  })

  test('goes on nowhere else when a writer has moved it back', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a', 'b')
    const { head } = await moveFromEngine(folders.settings('a'))
    assert.equal(head, 0)
    await folders.follow('b').catch(() => undefined)
    folders.make(2)
    const refused = await roll(folders, 'b')
    assert.match(String(!refused.ok && refused.reason), /another node has taken the log off the engine/)
    assert.match(String(!refused.ok && refused.reason), /it was interrupted, run that command here again/)
    await assert.rejects(take(folders, 'b', { is: 'genesis' }), /only a roll leads to the next stream/)
    await assert.rejects(moveFromEngine(folders.settings('b')), /another node has taken the log off/)
    const { log } = await folders.settings('b').connect(2)
    assert.equal(await log.last(), 0)
  })

  test('is moved back by the same command again after an interruption, and from the stream of a roll', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a', 'b')
    await take(folders, 'a', { is: 'seal', why: 'roll' })
    folders.make(2)
    await assert.rejects(moveFromEngine(folders.settings('a')), /a roll was interrupted/)
    await roll(folders, 'a')
    await take(folders, 'a', { is: 'seal', why: 'back' })
    assert.equal((await moveFromEngine(folders.settings('a'))).head, 0)
    await assert.rejects(moveFromEngine(folders.settings('a')), /on no engine/)
    await assert.rejects(moveFromEngine(folders.settings('b')), /another node has taken the log off/)
  })

  test('is joined from a backup when its first stream was dropped, as an empty directory is told at once', async () => {
    using folders = openWriterFolders()
    folders.make(1)
    await folders.begin('a')
    await take(folders, 'a', { is: 'seal', why: 'roll' })
    folders.make(2)
    await roll(folders, 'a')
    folders.drop(1)
    await assert.rejects(
      joinLog(folders.settings('empty')),
      /no stream 1\. Was it dropped .* from a backup at or after the last seal/,
    )
  })
})
