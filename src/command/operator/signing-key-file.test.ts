import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { contextOf } from '../../../test/stage/command-stage.ts'
import { openFolder } from '../../../test/story/damaged-log.ts'
import { defaultKeyFile, readSigningKeys } from './signing-key-file.ts'

suite('the key of a new log', () => {
  test('that cannot be made beside the data directory is refused with a data directory that works', () => {
    assert.throws(() => readSigningKeys(undefined, '/proc/self', 'localhost/daybook', contextOf({})), {
      name: 'CommandError',
      exitCode: 2,
      message:
        /^--data: no key can be written to \/proc\/self\.key: .+\. The key of a new log is beside its data directory: give a folder below it, such as --data \/proc\/self\/log, or the file of a key with --signing-key-file$/,
    })
  })

  test('leaves no copy when the process that made it was killed', () => {
    using folder = openFolder()
    const copy = `${defaultKeyFile(folder.data)}.making-9f0c1c4e-062c-4dcc-8b4b-5d5f81147ce9`
    for (const start of ['the first', 'a later']) {
      writeFileSync(copy, 'a key')
      assert.equal(readSigningKeys(undefined, folder.data, 'localhost/daybook', contextOf({})).length, 1)
      assert.equal(existsSync(copy), false, `${start} start`)
    }
  })
})
