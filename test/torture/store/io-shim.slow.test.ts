import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { skipWithout } from '../../processes/test-needs.ts'
import { openFolder } from '../../story/damaged-log.ts'
import { countedCalls, shimEnv } from './io-shim.ts'

suite('the library between a program and its files', { skip: skipWithout('cc') }, () => {
  /** Runs a script of a few calls, and returns what it printed. */
  function runCalls(root: string, env: Readonly<Record<string, string>>, script: string): string {
    const words = ['-e', `const fs = require('node:fs'); const root = ${JSON.stringify(root)}; ${script}`]
    return spawnSync(process.execPath, words, { encoding: 'utf8', env: { ...process.env, ...env } }).stdout
  }

  test('records the bytes of each change in order', () => {
    using folder = openFolder()
    const [root, trace] = [join(folder.path, 'root'), join(folder.path, 'trace')]
    mkdirSync(root)
    runCalls(
      root,
      shimEnv({ root, trace }),
      `fs.writeFileSync(root + '/a', 'one'); fs.appendFileSync(root + '/a', 'two'); fs.copyFileSync(root + '/a', root + '/b')
       fs.renameSync(root + '/b', root + '/c'); fs.linkSync(root + '/c', root + '/d'); fs.truncateSync(root + '/c', 2)
       const fd = fs.openSync(root, 'r'); fs.fsyncSync(fd); fs.mkdirSync(root + '/e/f', { recursive: true })
       fs.rmSync(root + '/e', { recursive: true }); fs.writevSync(fs.openSync(root + '/g', 'w'), [Buffer.from('1'), Buffer.from('2')])
       fs.writeFileSync(root + '/../outside', 'x')`,
    )
    assert.deepEqual(readFileSync(trace, 'utf8').split('\n'), [
      'create 0 0 a',
      'pwrite 0 3 a',
      'onepwrite 3 3 a',
      'twocreate 0 0 b',
      'ftruncate 0 0 b',
      'pwrite 0 6 b',
      'onetworename 0 0 b c',
      'link 0 0 c d',
      'ftruncate 2 0 c',
      'fsync 0 0 .',
      'mkdir 511 0 e',
      'mkdir 511 0 e/f',
      'rmdir 0 0 e/f',
      'rmdir 0 0 e',
      'create 0 0 g',
      'pwrite 0 2 g',
      '12',
    ])
  })

  test('fails the k-th call, and writes half of the bytes', () => {
    using folder = openFolder()
    const [root, report] = [join(folder.path, 'root'), join(folder.path, 'report')]
    const file = join(root, 'a')
    const written = (wish: Parameters<typeof shimEnv>[0], script: string): string => {
      mkdirSync(root, { recursive: true })
      writeFileSync(file, '')
      const said = runCalls(root, shimEnv(wish), script)
      return `${said}${readFileSync(file, 'utf8')}`
    }
    const twice = `for (const text of ['abcd', 'efgh']) try { fs.writeSync(fs.openSync(root + '/a', 'a'), text) } catch (error) { console.log(error.code) }`
    const calls = ['pwrite'] as const
    assert.equal(written({ root, calls, report, fail: { at: 2, error: 'EIO' } }, twice), 'EIO\nabcd')
    assert.deepEqual(countedCalls(report), [{ call: 'pwrite', number: 2, path: 'a' }])
    // Node writes the rest of a short write itself.
    const trace = join(folder.path, 'trace')
    const short = { at: 1, error: 'short', times: 2 } as const
    assert.equal(written({ root, calls, trace, fail: short }, twice), 'abcdefgh')
    assert.match(
      readFileSync(trace, 'utf8'),
      /^pwrite 0 2 a\nabpwrite 2 1 a\ncpwrite 3 1 a\ndpwrite 4 4 a\nefgh$/,
    )
    assert.equal(written({ root, files: ['other'], fail: { at: 1, error: 'EIO' } }, twice), 'abcdefgh')
    const onlyWhile = join(folder.path, 'now')
    assert.equal(written({ root, calls, onlyWhile, fail: { at: 1, error: 'EIO' } }, twice), 'abcdefgh')
  })
})
