import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { every, publish } from '../../test/stage/archive-node.ts'
import { testSigner } from '../../test/story/signing.ts'
import { openDirectory } from '../../test/story/store-run.ts'
import { MINUTE_MS } from '../protocol/moment.ts'
import { openAppender } from './append.ts'
import { openReader } from './open-reader.ts'
import { openForWriting, storePath } from './store/store.ts'
import { openHeadCell } from './head-cell.ts'

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

suite('the snapshots that are one', () => {
  /** A log of three events; `more` appends one, and `checkpoints` says whether SQLite can empty the write-ahead log. */
  function openLog() {
    const directory = openDirectory()
    const db = openForWriting(storePath(directory.path))
    // A checkpoint that a reader blocks fails at once.
    db.exec('PRAGMA busy_timeout = 0')
    const appender = openAppender(db, testSigner(db))
    const append = (count: number) =>
      publish(appender, every(MINUTE_MS, count, Date.UTC(2026, 0, 1, appender.head().seq)))
    append(3)
    const reader = openReader(directory.path, null)
    return {
      reader,
      more: () => append(1),
      checkpoints: () => db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0,
      headSeq: () => reader.snapshot(({ head }) => head.seq),
      [Symbol.dispose]() {
        reader.close()
        db.close()
        directory[Symbol.dispose]()
      },
    }
  }

  test('see no event that is published after the first, and then all', async () => {
    using log = openLog()
    const heads = await log.reader.inOneSnapshot(async () => {
      log.more()
      const first = log.headSeq()
      log.more()
      await Promise.resolve()
      return [first, log.headSeq(), log.reader.head().seq]
    })
    assert.deepEqual(heads, [4, 4, 4])
    assert.equal(log.headSeq(), 5)
    assert.ok(log.checkpoints())
  })

  test('are shared by those who ask in the same turn of the event loop', async () => {
    using log = openLog()
    const ask = async () => {
      const first = log.headSeq()
      await Promise.resolve()
      log.more()
      return [first, log.headSeq()]
    }
    const both = await Promise.all([log.reader.inOneSnapshot(ask), log.reader.inOneSnapshot(ask)])
    assert.deepEqual(both, [
      [3, 3],
      [3, 3],
    ])
    assert.equal(log.headSeq(), 5)
  })

  test('end when the event loop turns, so that the write-ahead log can be emptied', async () => {
    using log = openLog()
    const late = log.reader.inOneSnapshot(async () => {
      log.headSeq()
      assert.ok(!log.checkpoints())
      await setImmediate()
      await setImmediate()
      assert.ok(log.checkpoints())
    })
    await assert.rejects(late, /awaits no turn of the event loop/)
    assert.ok(log.checkpoints())
    log.more()
    assert.equal(await log.reader.inOneSnapshot(async () => log.headSeq()), 4)
  })

  test('end when what asks for them fails', async () => {
    using log = openLog()
    const failed = log.reader.inOneSnapshot(async () => {
      log.headSeq()
      throw new Error('no answer')
    })
    await assert.rejects(failed, /no answer/)
    assert.ok(log.checkpoints())
    log.more()
    assert.equal(log.headSeq(), 4)
  })
})
