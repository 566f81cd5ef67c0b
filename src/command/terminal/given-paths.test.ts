import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { run } from '../../../test/stage/command-stage.ts'
import { createStore, storePath } from '../../log/store/store.ts'
import { asPathError, checkFolder, makeFolder, systemReason } from './given-paths.ts'
import { openVerifyShelf } from '../consumer/verify-shelf.ts'

/** Nobody answers there: what is told at once was not asked of anybody. */
const NOWHERE = 'http://127.0.0.1:9'

const folder = mkdtempSync(join(tmpdir(), 'daybook-paths-'))
const at = (...names: readonly string[]): string => join(folder, ...names)
after(() => rmSync(folder, { recursive: true }))

mkdirSync(at('folder'))
mkdirSync(at('taken'))
writeFileSync(at('file'), 'no folder')
writeFileSync(at('taken', 'archive'), 'no folder')
createStore(storePath(at('log')), { origin: 'daybook.test', chain: 'solana', simulated: false })

suite('a path that is given', () => {
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
      'no folder for a copy',
      ['backup', '--data', at('log'), '--to', at('no', 'x')],
      /--to: there is no folder \S+\/no$/m,
    ],
    [
      'a file for its folder',
      ['backup', '--data', at('log'), '--to', at('file', 'x')],
      /--to: \S+\/file is a file/,
    ],
    ['a folder for a copy', ['backup', '--data', at('log'), '--to', at('folder')], /\/folder exists already/],
    [
      'a folder for a cursor',
      ['tail', NOWHERE, '--cursor', at('folder')],
      /--cursor: \S+\/folder is a folder; a file/,
    ],
    [
      'a device for a cursor',
      ['tail', NOWHERE, '--cursor', '/dev/null'],
      /--cursor: \/dev\/null is no ordinary file/,
    ],
    [
      'no folder for a cursor',
      ['tail', NOWHERE, '--cursor', at('no', 'x')],
      /--cursor: there is no folder \S+\/no$/m,
    ],
    ['a file above a new key', ['keygen', '--to', at('file', 'key')], /--to: \S+\/file is a file/],
    [
      'a folder for a new key',
      ['keygen', '--to', at('folder')],
      /\/folder: a key is written to a new file only/,
    ],
    [
      'a file for the data of an import',
      ['import', at('file'), '--data', at('file')],
      /--data: \S+\/file is a file/,
    ],
    ['no file of an import', ['import', at('none'), '--data', at('imported')], /\/none does not exist/],
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
    ['a file for the data of a service', ['serve', '--data', at('file')], /--data: \S+\/file is a file/],
  ]
  for (const [what, words, said] of table) {
    test(`is a bad use, told at once with its option, where it is ${what}`, async () => {
      const before = readdirSync(folder, { recursive: true })
      const { code, stderr } = await run(words)
      assert.equal(code, 2, stderr)
      assert.match(stderr, said)
      assert.match(stderr, /^daybook: [^\n]+\n$/)
      assert.doesNotMatch(stderr, /\bE[A-Z]{4,}\b/)
      assert.deepEqual(readdirSync(folder, { recursive: true }), before)
    })
  }

  test('leaves nothing behind when it is only looked at', () => {
    checkFolder(at('new', 'one'), '--to')
    assert.ok(!existsSync(at('new')))
    makeFolder(at('new', 'one'), '--to')
    assert.deepEqual(readdirSync(at('new')), ['one'])
  })

  test('fails with the option, the place and the system’s reason, and without its code', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, open'), {
      syscall: 'open',
      errno: -28,
      path: '/copy/a b',
    })
    const { message } = Object(asPathError(error, '--to'))
    assert.equal(message, "--to: '/copy/a b': no space left on device")
    const other = new Error('ours')
    assert.equal(asPathError(other, '--to'), other)
    assert.equal(systemReason('a word'), 'a word')
  })
})

suite('a shelf of checkpoints', () => {
  test('keeps no half of a file when the disk is full: the next visit finds what was there', () => {
    const shelf = openVerifyShelf(at('shelf'))
    const kept = { origin: 'a.test', size: 1, note: Buffer.from('one\n'), vkeys: ['first'] }
    shelf.keep(kept)
    const [vkeys = ''] = readdirSync(at('shelf')).filter((name) => name.endsWith('.vkeys'))
    // What takes a file's place for a moment cannot be written, as on a full disk.
    mkdirSync(at('shelf', `${vkeys}.part`))
    assert.throws(() => shelf.keep({ ...kept, size: 2, vkeys: ['second'] }))
    assert.equal(readFileSync(at('shelf', vkeys), 'utf8'), 'first\n')
    assert.deepEqual(shelf.keysOf('a.test'), ['first'])
  })
})
