import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { run } from '../../../test/stage/command-stage.ts'
import { createStore, storePath } from '../../log/store/store.ts'
import { openCheckpointFolder } from '../consumer/verify-command.ts'
import { asPathError, checkFolder, makeFolder, systemReason } from './option-paths.ts'

/** No service answers there, so an immediate error was made without a request. */
const NOWHERE = 'http://127.0.0.1:9'

const folder = mkdtempSync(join(tmpdir(), 'daybook-paths-'))
const at = (...names: readonly string[]): string => join(folder, ...names)
after(() => rmSync(folder, { recursive: true }))

mkdirSync(at('folder'))
mkdirSync(at('taken'))
writeFileSync(at('file'), 'no folder')
writeFileSync(at('taken', 'archive'), 'no folder')
createStore(storePath(at('log')), { origin: 'daybook.test', chain: 'solana', simulated: false })

suite('the path of an option', () => {
  const table: readonly (readonly [what: string, words: readonly string[], said: RegExp])[] = [
    ['a file for the folder of pull', ['pull', NOWHERE, '--to', at('file')], /--to: \S+\/file is a file/],
    ['a file inside it', ['pull', NOWHERE, '--to', at('taken')], /--to: \S+\/taken\/archive is a file/],
    ['a file above it', ['pull', NOWHERE, '--to', at('file', 'x')], /--to: \S+\/file is a file; a folder is/],
    [
      'a file for the folder of verify',
      ['verify', NOWHERE, '--save', at('file')],
      /--save: \S+\/file is a fi/,
    ],
    [
      'a file above it, of verify',
      ['verify', NOWHERE, '--save', at('file', 'x')],
      /--save: \S+\/file is a fi/,
    ],
    [
      'a folder for a checkpoint',
      ['verify', NOWHERE, '--since', at('folder')],
      /--since: \S+\/folder cannot be/,
    ],
    [
      'a missing folder for a copy',
      ['backup', '--data', at('log'), '--to', at('no', 'x')],
      /--to: there is no folder \S+\/no; make it first$/m,
    ],
    [
      'a file for its folder',
      ['backup', '--data', at('log'), '--to', at('file', 'x')],
      /--to: \S+\/file is a file/,
    ],
    [
      'an existing file for a copy',
      ['backup', '--data', at('log'), '--to', at('file')],
      /\/file exists already/,
    ],
    [
      'a folder for a cursor',
      ['tail', NOWHERE, '--cursor', at('folder')],
      /--cursor: \S+\/folder is a folder; a file/,
    ],
    [
      'a device for a cursor',
      ['tail', NOWHERE, '--cursor', '/dev/null'],
      /--cursor: \/dev\/null is not an ordinary file/,
    ],
    [
      'a missing folder for a cursor',
      ['tail', NOWHERE, '--cursor', at('no', 'x')],
      /--cursor: there is no folder \S+\/no; make it first$/m,
    ],
    ['a file above a new key', ['keygen', '--to', at('file', 'key')], /--to: \S+\/file is a file/],
    [
      'a folder for a new key',
      ['keygen', '--to', at('folder')],
      /\/folder exists already; give the path of a new file/,
    ],
    [
      'a file for the data of an import',
      ['import', at('file'), '--data', at('file'), '--development'],
      /--data: \S+\/file is a file/,
    ],
    [
      'a missing file of an import',
      ['import', at('none'), '--data', at('imported')],
      /\/none does not exist/,
    ],
    [
      'a folder for a file of an import',
      ['import', at('folder'), '--data', at('imported')],
      /\/folder is a folder; a file/,
    ],
    [
      'a folder for a key that is shown',
      ['keygen', '--show', at('folder')],
      /\/folder cannot be read: it is a folder/,
    ],
    [
      'a file for the data of a service',
      ['serve', '--data', at('file'), '--development'],
      /--data: \S+\/file is a file/,
    ],
  ]
  for (const [what, words, said] of table) {
    test(`is refused before any work, with the name of the option: ${what}`, async () => {
      const before = readdirSync(folder, { recursive: true })
      const { code, stderr } = await run(words)
      assert.equal(code, 2, stderr)
      assert.match(stderr, said)
      assert.match(stderr, /^daybook: [^\n]+\n$/)
      assert.doesNotMatch(stderr, /\bE[A-Z]{4,}\b/)
      assert.deepEqual(readdirSync(folder, { recursive: true }), before)
    })
  }

  test('is checked without leaving anything behind', () => {
    checkFolder(at('new', 'one'), '--to')
    assert.ok(!existsSync(at('new')))
    makeFolder(at('new', 'one'), '--to')
    assert.deepEqual(readdirSync(at('new')), ['one'])
  })

  test('gives an error with the option, the path and the reason of the system, without its code', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, open'), {
      syscall: 'open',
      errno: -28,
      path: '/copy/a b',
    })
    const { message } = Object(asPathError(error, '--to'))
    assert.equal(message, "--to: '/copy/a b': no space left on device")
    const overQuota = Object.assign(new Error('Unknown system error -122'), { syscall: 'open', errno: -122 })
    assert.equal(Object(asPathError(overQuota, '--to')).message, '--to: disk quota exceeded')
    const other = new Error('ours')
    assert.equal(asPathError(other, '--to'), other)
    assert.equal(systemReason('a word'), 'a word')
  })
})

suite('the folder of checkpoints', () => {
  test('has no half-written file after the disk was full, so the next run finds the old one', () => {
    const checkpoints = openCheckpointFolder(at('checkpoints'))
    const kept = { origin: 'a.test', notes: [{ size: 1, note: Buffer.from('one\n') }], vkeys: ['first'] }
    checkpoints.keep(kept)
    const [vkeys = ''] = readdirSync(at('checkpoints')).filter((name) => name.endsWith('.vkeys'))
    // A folder at the path of the temporary file makes the write fail, as a full disk does.
    mkdirSync(at('checkpoints', `${vkeys}.part`))
    assert.throws(() => checkpoints.keep({ ...kept, vkeys: ['second'] }))
    assert.equal(readFileSync(at('checkpoints', vkeys), 'utf8'), 'first\n')
    assert.deepEqual(checkpoints.keysOf('a.test'), ['first'])
  })
})
