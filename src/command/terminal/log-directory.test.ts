import assert from 'node:assert/strict'
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { run } from '../../../test/stage/command-stage.ts'
import { createStore, storePath } from '../../log/store/store.ts'

const OTHER_USER = 65_534
const isRoot = process.getuid?.() === 0

suite('root and the data directory of another user', { skip: skipUnless(isRoot, 'root') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-owner-'))
  const data = join(folder, 'log')
  test.before(() => {
    createStore(storePath(data), { origin: 'daybook.test', chain: 'solana', simulated: false })
    chownSync(data, OTHER_USER, OTHER_USER)
  })
  test.after(() => rmSync(folder, { recursive: true }))

  const ports = ['--port', '0', '--publish-port', '0']
  for (const words of [
    ['serve', '--data', data, ...ports],
    ['serve', '--data', data, '--upgrade', ...ports],
    ['import', '-', '--data', data],
  ]) {
    test(`are refused by ${words.filter((word) => /^(?:--)?[a-z]+$/.test(word)).join(' ')}`, async () => {
      const before = readdirSync(data)
      const { code, stderr } = await run(words)
      assert.equal(code, 2, stderr)
      assert.match(stderr, /belongs to the user 65534, .*: run the command as that user, such as runuser -u /)
      assert.deepEqual(readdirSync(data), before)
      assert.deepEqual(readdirSync(folder), ['log'])
    })
  }
})
