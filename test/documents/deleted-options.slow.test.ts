import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { skipUnless } from '../processes/test-needs.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { importsOf, SOURCES } from '../stage/source-tree.ts'

const asked = promisify(execFile)
const OPTIONS = ['cluster', 'finality', 'mirror', 'outbox', 'witness']
/** Table of the options, with a line and a name for each. */
const TABLE = 'src/plugged-options.ts'
/** File that names the program, which tests start. */
const PLACES = 'test/stage/places.ts'
const TSC = join(ROOT, 'node_modules', '.bin', 'tsc')
const COMPILE = ['-p', 'tsconfig.json', '--noEmit', '--incremental', '--tsBuildInfoFile', 'types.json']
/** Tests that read the whole repository: documents and lists that also tell of options. */
const OF_REPOSITORY = /^test\/(?:documents|mutants)\/|-documented\.test\.ts$|\/campaigns\.test\.ts$/
const isCheckout = existsSync(join(ROOT, '.git'))

/** Files of the options: their folders, and the tests and benches that import something of these. */
function filesOf(options: readonly string[]): ReadonlySet<string> {
  const own = new RegExp(`^(?:src|test|bench)/(?:${options.join('|')})[/.]`)
  const gone = new Set(SOURCES.filter((path) => own.test(path)))
  const others = SOURCES.filter((path) => !path.startsWith('src/') || path.endsWith('.test.ts'))
  for (let size = -1; size < gone.size;) {
    size = gone.size
    for (const path of others) if (importsOf(path).some((to) => gone.has(to))) gone.add(path)
  }
  return gone
}

/**
 * Quick tests that the deletion may change: they import the table, at any distance, or start the program. The others run
 * the same code as in the whole project.
 */
function reachTheTable(path: string): boolean {
  const reached = [path]
  for (const one of reached) {
    if (one === TABLE || (one !== PLACES && /\bMAIN\b/.test(textOf(one)))) return true
    reached.push(...importsOf(one).filter((to) => SOURCES.includes(to) && !reached.includes(to)))
  }
  return false
}

const QUICK = SOURCES.filter((path) => /(?<!\.slow)\.test\.ts$/.test(path) && !OF_REPOSITORY.test(path))

/** Copies the project, and compiles it: a copy of the copy compiles only what a deletion changes. */
async function copyWhole(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-whole-'))
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = await asked('git', words, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 })
  for (const path of stdout.split('\0'))
    if (path !== '' && existsSync(join(ROOT, path))) cpSync(join(ROOT, path), join(folder, path))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  assert.equal(await failureOf(TSC, COMPILE, folder), '')
  return folder
}

/** Removes files from a copy, and options from its table. */
function removeFrom(folder: string, gone: ReadonlySet<string>, options: readonly string[]): void {
  for (const path of gone) rmSync(join(folder, path), { force: true })
  let table = readFileSync(join(ROOT, TABLE), 'utf8')
  for (const option of options) {
    const line = new RegExp(`^import \\{ (\\w+) \\} from '\\./${option}/.*\\n`, 'm')
    const [, name = assert.fail(`${TABLE} has no line of ${option}`)] = line.exec(table) ?? []
    table = table.replace(line, '').replace(new RegExp(`(?<=\\[.*)\\b${name}\\b(?:, )?`), '')
  }
  writeFileSync(join(folder, TABLE), table)
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

suite('the project', { skip: skipUnless(isCheckout, 'git'), concurrency: 2 }, () => {
  let whole = ''
  before(async () => {
    whole = await copyWhole()
  })
  after(() => rmSync(whole, { recursive: true, force: true }))

  /** Asserts that a copy without options compiles, and passes these tests. */
  async function assertWorks(options: readonly string[], tests: readonly string[]): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-without-'))
    try {
      const gone = filesOf(options)
      cpSync(whole, folder, { recursive: true, verbatimSymlinks: true })
      removeFrom(folder, gone, options)
      assert.equal(await failureOf(TSC, COMPILE, folder), '')
      const left = tests.filter((path) => !gone.has(path))
      if (left.length === 0) return
      const report = await failureOf(process.execPath, ['--test', '--test-concurrency=2', ...left], folder)
      assert.equal(report.slice(report.indexOf('✖ failing tests:')), '')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  for (const option of OPTIONS)
    test(`compiles without the option ${option}: its folder, its tests and its line in the table`, () =>
      assertWorks([option], []))

  test('compiles without any option, and passes the quick tests of its core', async () => {
    const tests = QUICK.filter(reachTheTable)
    assert.ok(tests.length > 15, `${tests.length} files`)
    await assertWorks(OPTIONS, tests)
  })

  test('has no option that this test does not delete', () => {
    const plugged = importsOf(TABLE).map((path) => dirname(path).split('/')[1] ?? '')
    assert.deepEqual(plugged.filter((room) => room !== 'command').toSorted(), OPTIONS)
  })
})
