import assert from 'node:assert/strict'
import { chownSync, readdirSync } from 'node:fs'
import { suite, test } from 'node:test'
import { run } from '../../stage/command-stage.ts'
import { skipUnless } from '../../processes/test-needs.ts'
import { makeLog, openFolder } from '../../story/damaged-log.ts'

const OTHER_USER = 65_534

suite(
  'root and the data directory of another user',
  { skip: skipUnless(process.getuid?.() === 0, 'root') },
  () => {
    for (const back of [[], ['--back']]) {
      test(`are refused by cluster move ${back.join('')}`, async () => {
        using folder = openFolder()
        makeLog(folder.data, [1])
        chownSync(folder.data, OTHER_USER, OTHER_USER)
        const before = readdirSync(folder.data)
        const table = ['--log-store', 'postgres://127.0.0.1:1/daybook']
        const { code, stderr } = await run(['cluster', 'move', ...back, '--data', folder.data, ...table])
        assert.equal(code, 2, stderr)
        assert.match(
          stderr,
          /belongs to the user 65534, .*: run the command as that user, such as runuser -u /,
        )
        assert.deepEqual(readdirSync(folder.data), before)
      })
    }
  },
)
