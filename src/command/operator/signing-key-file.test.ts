import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { worldOf } from '../../../test/stage/command-stage.ts'
import { readSigningKeys } from './signing-key-file.ts'

suite('the key of a new log', () => {
  test('that cannot be made beside the data directory is refused with a data directory that works', () => {
    assert.throws(() => readSigningKeys(undefined, '/proc/self', 'localhost/daybook', worldOf({})), {
      name: 'CommandError',
      exitCode: 2,
      message:
        /^--data: no key can be written to \/proc\/self\.key: .+\. The key of a new log is beside its data directory: give a folder below it, such as --data \/proc\/self\/log, or the file of a key with --signing-key-file$/,
    })
  })
})
