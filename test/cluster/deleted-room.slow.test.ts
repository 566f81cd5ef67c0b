import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../stage/places.ts'
import { skipUnless } from '../processes/test-needs.ts'

const asked = promisify(execFile)
const CLUSTER = /^(?:src|test|bench)\/cluster[/.]/
const isCheckout = existsSync(join(ROOT, '.git'))

/** Copies the tracked files that are not of the cluster, and unplugs it. */
async function copyWithout(folder: string): Promise<void> {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = await asked('git', words, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 })
  for (const path of stdout.split('\0')) {
    if (path === '' || CLUSTER.test(path) || !existsSync(join(ROOT, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(folder, path))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const options = join(folder, 'src', 'plugged-options.ts')
  const plugged = readFileSync(options, 'utf8')
  const unplugged = plugged.replace(/^import \{ CLUSTER \}.*\n/m, '').replace('[CLUSTER]', '[]')
  assert.doesNotMatch(unplugged.replaceAll(/\/\*\*.*?\*\//g, ''), /CLUSTER/)
  writeFileSync(options, unplugged)
}

suite('the project without the log on several nodes', { skip: skipUnless(isCheckout, 'git') }, () => {
  test('compiles after its folders and its line in src/plugged-options.ts are deleted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-without-'))
    try {
      await copyWithout(folder)
      const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
      const said = await asked(compiler, ['-p', 'tsconfig.json', '--noEmit'], { cwd: folder }).then(
        () => '',
        (error: unknown) =>
          error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error),
      )
      assert.equal(said, '')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
