import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { every, publish } from '../../test/stage/archive-node.ts'
import { testSigner } from '../../test/story/signing.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { MINUTE_MS } from '../protocol/moment.ts'
import { openAppender } from './append.ts'
import { openReader } from './open-reader.ts'
import { openHeadCell } from './store/head-cell.ts'
import { openForWriting, storePath } from './store/store.ts'

suite('the head of a reader', () => {
  for (const [name, cell] of [
    ['without a writer', null],
    ['with a writer', openHeadCell()],
  ] as const) {
    test(`is that of its newest answer, and its listeners hear each move once (${name})`, () => {
      using directory = openDirectory()
      using db = openForWriting(storePath(directory.path))
      const appender = openAppender(db, testSigner(db))
      const more = (count: number): void => {
        publish(appender, every(MINUTE_MS, count, Date.UTC(2026, 0, 1, appender.head().seq)))
        cell?.move(appender.head().seq)
      }
      const reader = openReader(directory.path, cell)
      const heard: number[] = []
      const stop = reader.onHead(({ seq }) => heard.push(seq))
      const versions = new Set([reader.version()])
      const kinds = () => reader.snapshot((snapshot) => snapshot.kinds())
      assert.deepEqual(kinds(), [])
      assert.equal(reader.head().seq, 0)
      for (const [count, head] of [
        [3, 3],
        [1, 4],
      ] as const) {
        more(count)
        assert.equal(reader.head().seq, cell === null ? head - count : head, 'only a writer tells')
        for (let times = 0; times < 2; times += 1)
          assert.equal(
            reader.snapshot((snapshot) => snapshot.head.seq),
            head,
          )
        assert.equal(reader.head().seq, head)
        assert.deepEqual(kinds(), [{ type: 'price', kind: 'usd', firstSeq: 1, lastSeq: head }])
        versions.add(reader.version())
      }
      assert.deepEqual(heard, [3, 4])
      assert.equal(versions.size, 3, 'each state has its version')
      stop()
      more(1)
      assert.equal(
        reader.snapshot((snapshot) => snapshot.head.seq),
        5,
      )
      assert.deepEqual(heard, [3, 4])
      reader.close()
    })
  }
})
