import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../../test/story/store-run.ts'
import { LockedError, lockDirectory } from './lock.ts'

suite('the lock of a data directory', () => {
  test('is taken once within one process too, and no other failure is reported as a lock', () => {
    using directory = openDirectory()
    const { path } = directory
    {
      using _lock = lockDirectory(path)
      assert.equal(statSync(join(path, 'lock')).mode & 0o777, 0o600, 'no other user can lock it')
      assert.throws(() => lockDirectory(path), LockedError)
    }
    lockDirectory(path)[Symbol.dispose]()
    writeFileSync(join(path, 'lock'), 'this is no database, so nobody can hold it as one'.repeat(99))
    assert.throws(
      () => lockDirectory(path),
      (error) => error instanceof Error && !(error instanceof LockedError),
    )
  })
})
