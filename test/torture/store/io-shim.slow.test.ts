import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { canInject } from '../../processes/fault-injection.ts'
import { skipUnless, skipWithout } from '../../processes/test-needs.ts'
import { makeLog, openFolder } from '../../story/damaged-log.ts'
import { drivenCommand, drivenOutcomes } from './driven-run.ts'
import { countedCalls, shimEnv } from './io-shim.ts'

/** System calls that change a file or a name, and the name of each in a trace. */
const CHANGING: Readonly<Record<string, string>> = {
  write: 'pwrite',
  pwrite64: 'pwrite',
  writev: 'pwrite',
  pwritev: 'pwrite',
  pwritev2: 'pwrite',
  sendfile: 'pwrite',
  copy_file_range: 'pwrite',
  ftruncate: 'ftruncate',
  truncate: 'ftruncate',
  fallocate: 'fallocate',
  fsync: 'fsync',
  fdatasync: 'fdatasync',
  rename: 'rename',
  renameat: 'rename',
  renameat2: 'rename',
  link: 'link',
  linkat: 'link',
  symlink: 'link',
  symlinkat: 'link',
  unlink: 'unlink',
  unlinkat: 'unlink',
  mkdir: 'mkdir',
  mkdirat: 'mkdir',
  rmdir: 'rmdir',
  ioctl: 'copy',
}

/** Counts of changes by call and file, from the lines that strace wrote for each thread. */
function seenByTracer(folder: string, root: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  for (const line of lines) {
    const call = /^(\w+)\(/.exec(line)?.[1] ?? ''
    const path = /[<"](\/[^>"]*)[>"]/g
    const own = [...line.matchAll(path)].map((match) => match[1] ?? '').find((one) => one.startsWith(root))
    const change = CHANGING[call]
    if (own === undefined || change === undefined || / = -1 /.test(line)) continue
    if (call === 'ioctl' && !line.includes('FICLONE')) continue
    const kind = line.includes('AT_REMOVEDIR') ? 'rmdir' : change
    const of = `${kind} ${own.slice(root.length + 1) || '.'}`
    counts[of] = (counts[of] ?? 0) + 1
  }
  return counts
}

suite('the library between a program and its files', { skip: skipWithout('cc') }, () => {
  test(
    'sees every change that strace sees, of a service with its backup',
    { skip: skipUnless(canInject(), 'a strace that may follow a process') },
    () => {
      using folder = openFolder()
      const [root, traced] = [join(folder.path, 'root'), join(folder.path, 'traced')]
      for (const path of [root, traced]) mkdirSync(path)
      makeLog(join(root, 'data'), [3, 700])
      const driven = { data: join(root, 'data'), backups: `${join(root, 'backups')}/` }
      const { command, outcomes } = drivenCommand(folder.path, driven, {
        root,
        trace: join(folder.path, 'trace'),
        report: join(folder.path, 'report'),
        reportsAll: true,
      })
      const calls = Object.keys(CHANGING).join(',')
      const tracer = ['-ff', '-qq', '-y', '-s', '0', '-o', join(traced, 'of'), '-e', `trace=${calls}`]
      const { status, stderr } = spawnSync('strace', [...tracer, ...command], { encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      assert.ok(drivenOutcomes(outcomes).every((outcome) => [0, 200].includes(outcome.status)))
      const counts: Record<string, number> = {}
      for (const { call, path } of countedCalls(join(folder.path, 'report'))) {
        if (call !== 'create') counts[`${call} ${path}`] = (counts[`${call} ${path}`] ?? 0) + 1
      }
      const seen = seenByTracer(traced, root)
      // The library counts the calls that failed too, such as the removal of a file that is not there.
      // Writes never fail here, and a closed descriptor that is used again, as by a socket, is no file of the folder.
      const written = (of: typeof seen): typeof seen =>
        Object.fromEntries(
          Object.entries(of).filter(([change]) => /^(?:pwrite|fsync) (?!.*-shm$)/.test(change)),
        )
      assert.deepEqual(written(counts), written(seen))
      for (const [change, times] of Object.entries(seen))
        assert.ok((counts[change] ?? 0) >= times, `${change}: ${counts[change] ?? 0} of ${times}`)
      const total = Object.values(seen).reduce((sum, times) => sum + times, 0)
      assert.ok(total > 100, `${total} changes`)
    },
  )

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

  test('fails the k-th call, writes half of the bytes, and kills before, in and after a call', () => {
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
    assert.equal(written({ root, calls, kill: { at: 2, where: 'before' } }, twice), 'abcd')
    assert.equal(written({ root, calls, kill: { at: 2, where: 'in' } }, twice), 'abcdef')
    assert.equal(written({ root, calls, kill: { at: 1, where: 'after' } }, twice), 'abcd')
    assert.equal(written({ root, files: ['other'], kill: { at: 1, where: 'before' } }, twice), 'abcdefgh')
    const onlyWhile = join(folder.path, 'now')
    assert.equal(written({ root, calls, onlyWhile, fail: { at: 1, error: 'EIO' } }, twice), 'abcdefgh')
  })
})
