import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { run } from '../../../test/stage/command-stage.ts'
import { UsageError } from './command-error.ts'

/** A file of Linux whose first byte cannot be read (EIO). */
const FAILING = '/proc/self/mem'

suite('the exit code of a command', () => {
  for (const [code, exitCode] of [
    ['ENOENT', 2],
    ['EACCES', 2],
    ['EISDIR', 2],
    ['EIO', 1],
    ['EMFILE', 1],
    ['ENFILE', 1],
    ['ENOMEM', 1],
    ['ENOSPC', 1],
    ['EDQUOT', 1],
  ] as const)
    test(`is ${exitCode} when the file of an option cannot be used for ${code}`, () => {
      const errno = -constants.errno[code]
      // Node has no name for a used-up quota, only its number.
      const name = code === 'EDQUOT' ? `Unknown system error ${errno}` : code
      const cause = Object.assign(new Error('the file cannot be read'), { code: name, errno })
      assert.equal(new UsageError('the file cannot be read', { cause }).exitCode, exitCode)
    })

  test(
    'is 1 when the disk fails while a file is read',
    { skip: skipUnless(existsSync(FAILING), FAILING) },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'daybook-exit-'))
      try {
        const options = '--development --port 0 --publish-port 0 --publish-token-file'.split(' ')
        const { code, stderr } = await run(['serve', ...options, FAILING, '--data', join(folder, 'data')])
        assert.match(stderr, /^daybook: the token file \/proc\/self\/mem cannot be read: i\/o error\n$/)
        assert.equal(code, 1)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})
