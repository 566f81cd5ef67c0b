import assert from 'node:assert/strict'
import { copyFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { HIGH_WATER_FILE, markHighWater, readHighWater } from '../../src/log/store/high-water.ts'
import { openForReading, readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { faultAtEnd } from '../../src/log/tree/log-fault.ts'
import {
  runCheck,
  copyLog,
  makeLog,
  NEW_LOG,
  openFolder,
  publishUpTo,
  refusalAtStart,
  SIGNING,
} from '../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'

const ACCEPT = { ...SIGNING, acceptLoss: true }

suite('the store of another log', () => {
  for (const origin of [NEW_LOG.origin, 'daybook.test/other']) {
    test(`is refused in place of a log (${origin}), with \`--accept-loss\` too`, async () => {
      using folder = openFolder()
      using others = openFolder()
      makeLog(folder.data, [5, 9])
      makeLog(others.data, [5, 9], { ...NEW_LOG, origin })
      copyFileSync(storePath(others.data), storePath(folder.data))
      for (const signing of [SIGNING, ACCEPT]) {
        assert.match(refusalAtStart(folder.data, signing) ?? '', /^seq 1: .* belongs to another log/)
      }
      const { code, said } = await runCheck(folder.data)
      assert.equal(code, 1)
      assert.match(said, /^seq 1: .* belongs to another log/m)
    })
  }
})

suite('the high-water mark beside a store', () => {
  test('shows a fork when it has another tree signed with the log’s key', async () => {
    using folder = openFolder()
    const fork = join(folder.path, 'fork')
    makeLog(folder.data, [5])
    copyLog(folder.data, fork)
    publishUpTo(folder.data, [9])
    // The copy was published into too, so it has other events at the same seqs.
    publishUpTo(fork, [9], [TEST_KEY], 100)
    cpSync(join(fork, HIGH_WATER_FILE), join(folder.data, HIGH_WATER_FILE))
    assert.match(
      refusalAtStart(folder.data) ?? '',
      /^seq 1: the log is not the one whose checkpoint was published/,
    )
    assert.equal((await runCheck(folder.data)).code, 1)
  })

  test('is believed when keys of this node have signed it that an older store does not list yet', () => {
    using folder = openFolder()
    const { data } = folder
    const older = join(folder.path, 'older')
    const both = [TEST_KEY, OTHER_KEY]
    makeLog(data, [3])
    copyLog(data, older)
    assert.equal(refusalAtStart(data, { ...SIGNING, keys: both }), undefined)
    publishUpTo(data, [6], both)
    cpSync(join(data, HIGH_WATER_FILE), join(older, HIGH_WATER_FILE))
    assert.match(refusalAtStart(older) ?? '', /^seq 1: no key of this log has signed the high-water mark/)
    assert.match(
      refusalAtStart(older, { ...SIGNING, keys: both }) ?? '',
      /^seq 4: the log ends at seq 3 but was published up to seq 6/,
    )
    const db = openForReading(storePath(older))
    assert.equal(faultAtEnd(db, readHighWater(older), both)?.lost, true, 'by an audit, too')
    db.close()
  })

  test('is refused when no key of the log has signed it', () => {
    using folder = openFolder()
    using others = openFolder()
    makeLog(folder.data, [5])
    makeLog(others.data, [5], { ...NEW_LOG, origin: 'daybook.test/other' })
    const mark = readHighWater(others.data) ?? assert.fail()
    markHighWater(folder.data, { ...mark, log: readStoreIdentity(folder.data).id })
    assert.match(
      refusalAtStart(folder.data) ?? '',
      /^seq 1: no key of this log has signed the high-water mark/,
    )
  })
})
