import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { skipUnless } from '../processes/test-needs.ts'
import { ROOT } from '../stage/places.ts'
import { importsOf, SOURCES } from '../stage/source-tree.ts'

const asked = promisify(execFile)
const OPTIONS = ['cluster', 'finality', 'mirror', 'outbox', 'witness']
/** Table of the options, with a line and a name for each. */
const TABLE = 'src/plugged-options.ts'
/** Tests that read the whole repository: documents and lists that also tell of options. */
const OF_REPOSITORY = /^test\/(?:documents|mutants)\/|-documented\.test\.ts$|\/campaigns\.test\.ts$/
/** Longest run of the quick tests, on a busy machine. */
const QUICK_TESTS = { timeout: 1_200_000 }
const isCheckout = existsSync(join(ROOT, '.git'))

/** Files of the options: their folders, and the tests and benches that import something of these. */
function filesOf(options: readonly string[]): ReadonlySet<string> {
  const own = new RegExp(`^(?:src|test|bench)/(?:${options.join('|')})[/.]`)
  const gone = new Set(SOURCES.filter((path) => own.test(path)))
  const others = SOURCES.filter((path) => !path.startsWith('src/') || path.endsWith('.test.ts'))
  for (let before = -1; before < gone.size;) {
    before = gone.size
    for (const path of others) if (importsOf(path).some((to) => gone.has(to))) gone.add(path)
  }
  return gone
}

/** Copies the project without options, and takes them out of their table. */
async function copyWithout(options: readonly string[], folder: string): Promise<void> {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = await asked('git', words, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 })
  const gone = filesOf(options)
  for (const path of stdout.split('\0'))
    if (path !== '' && !gone.has(path) && existsSync(join(ROOT, path)))
      cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  let table = readFileSync(join(ROOT, TABLE), 'utf8')
  for (const option of options) {
    const line = new RegExp(`^import \\{ (\\w+) \\} from '\\./${option}/.*\\n`, 'm')
    const [, name = assert.fail(`${TABLE} has no line of ${option}`)] = line.exec(table) ?? []
    table = table.replace(line, '').replace(new RegExp(`(?<=\\[.*)\\b${name}\\b(?:, )?`), '')
  }
  writeFileSync(join(folder, TABLE), table)
}

async function inCopyWithout(
  options: readonly string[],
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-without-'))
  try {
    await copyWithout(options, folder)
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Output of a program that fails; empty when it succeeds. */
async function failureOf(file: string, words: readonly string[], folder: string): Promise<string> {
  // The runner would take the tests of a test for its own.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const settings = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
  return await asked(file, words, settings).then(
    () => '',
    (error: unknown) => (error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)),
  )
}

const compiled = (folder: string): Promise<string> =>
  failureOf(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.json', '--noEmit'], folder)

suite('the project', { skip: skipUnless(isCheckout, 'git') }, () => {
  for (const option of OPTIONS) {
    test(`compiles without the option ${option}: its folder, its tests and its line in the table`, async () => {
      await inCopyWithout([option], async (folder) => assert.equal(await compiled(folder), ''))
    })
  }

  test('compiles without any option, and passes the quick tests of its core', QUICK_TESTS, async () => {
    await inCopyWithout(OPTIONS, async (folder) => {
      assert.equal(await compiled(folder), '')
      for (const path of SOURCES.filter((source) => OF_REPOSITORY.test(source)))
        rmSync(join(folder, path), { force: true })
      const report = await failureOf(process.execPath, ['test/run-suites.ts', 'quick'], folder)
      assert.equal(report.slice(report.indexOf('✖ failing tests:')), '')
    })
  })

  test('has no option that this test does not delete', () => {
    const plugged = importsOf(TABLE).map((path) => dirname(path).split('/')[1] ?? '')
    assert.deepEqual(plugged.filter((room) => room !== 'command').toSorted(), OPTIONS)
  })
})
