import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testSigner } from '../../test/story/signing.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { openAppender } from '../log/append.ts'
import { openForWriting, storePath } from '../log/store/store.ts'
import { FULL, openOwnPath, UNAVAILABLE } from './commit-path.ts'

/** Error of SQLite with a result code. */
const failed = (errcode: number): Error => Object.assign(new Error('it failed'), { errcode })

suite('a commit that failed', () => {
  test('ends the writer with the cause, unless the disk is full', async () => {
    using directory = openDirectory()
    const db = openForWriting(storePath(directory.path))
    const appender = openAppender(db, testSigner(db))
    const after = async (error: unknown, isFull: boolean): Promise<readonly unknown[]> => {
      const heard: unknown[] = []
      const path = openOwnPath({
        appender,
        isDiskFull: () => isFull,
        onFull: () => heard.push('full'),
        onBroken: ({ message, cause }) => heard.push(message, cause === error),
      })
      const outcome = await path.commit(1, () => {
        throw error
      })
      return [outcome, ...heard]
    }
    for (const [error, isFull, ...ends] of [
      [failed(13), false, FULL, 'full'],
      [failed(13 + 256), false, FULL, 'full'],
      [failed(778), true, FULL, 'full'],
      [failed(778), false, UNAVAILABLE, 'the disk failed', true],
      [failed(1_034), true, UNAVAILABLE, 'the disk failed', true],
      [failed(11), true, UNAVAILABLE, 'a commit failed', true],
      [new Error('no code'), true, UNAVAILABLE, 'a commit failed', true],
    ] as const) {
      assert.deepEqual(await after(error, isFull), ends)
    }
    db.close()
    // Nothing can be rolled back in a store that is closed, and the reason is another one then.
    assert.deepEqual(await after(failed(13), true), [
      UNAVAILABLE,
      'the store could not be rolled back',
      false,
    ])
  })
})
