import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { ROOT } from './stage/places.ts'

/** Test whose name is the folder of temporary files. */
const FOLDER = "test(String(process.env['TMPDIR']), () => undefined)"

type Ended = Readonly<{ code: number | null; said: string }>

/**
 * Runs the suites of a folder with these tests, each a quick file of its name. `stopAt` is a text after which SIGINT comes
 * twice, as from a terminal and from npm. Asserts that no temporary file is left.
 */
async function runSuites(
  tests: Readonly<Record<string, string>>,
  { words = ['quick'], stopAt }: Readonly<{ words?: readonly string[]; stopAt?: string }> = {},
): Promise<Ended> {
  const root = mkdtempSync(join(tmpdir(), 'daybook-suites-'))
  for (const path of ['test/run-suites.ts', 'test/processes', 'test/stage', 'package.json'])
    cpSync(join(ROOT, path), join(root, path), {
      recursive: true,
      filter: (from) => !from.endsWith('.test.ts'),
    })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const [name, body] of Object.entries(tests))
    writeFileSync(join(root, 'test', `${name}.test.ts`), `import { test } from 'node:test'\n${body}`)
  // Inside a test the runner would not run files.
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env
  const child = spawn(process.execPath, ['test/run-suites.ts', ...words], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      const isNew = !said.includes(stopAt ?? '')
      said += text
      if (!isNew || !said.includes(stopAt ?? '')) return
      child.kill('SIGINT')
      setTimeout(() => child.kill('SIGINT'), 5)
    })
  await once(child, 'close')
  rmSync(root, { recursive: true })
  const [, folder = ''] = /(\/\S*daybook-tests-\w+)(?: \(|\/daybook-groups-)/.exec(said) ?? []
  assert.ok(!existsSync(folder), `${folder} is left`)
  return { code: child.exitCode, said }
}

suite('a run of the suites', { concurrency: true }, () => {
  test('succeeds when every test passes, and leaves no temporary file', async () => {
    const { code, said } = await runSuites({ a: FOLDER, b: "test('fine', () => undefined)" })
    assert.equal(code, 0, said)
    assert.match(said, /^✔ \/.*daybook-tests-/m)
    assert.match(said, /^ℹ pass 2$/m)
    assert.doesNotMatch(said, /unfinished/)
  })

  const failing: readonly (readonly [what: string, body: string, says: RegExp])[] = [
    ['a test fails', "test('bad', () => { throw new Error('wrong') })", /✖ bad/],
    ['a file cannot be imported', "import './nowhere.ts'", /nowhere\.ts/],
    [
      'a process is killed',
      "test('bad', () => process.kill(process.pid, 'SIGKILL'))",
      /--test test\/a\.test\.ts test\/b/,
    ],
    [
      'a promise is rejected that no test waits for',
      "test('fine', async () => { void Promise.reject(new Error('lost')); await new Promise(setImmediate) })",
      /lost/,
    ],
    ['a process exits early', "test('bad', () => process.exit(0))", /--test test\/a\.test\.ts test\/b/],
  ]
  for (const [what, body, says] of failing) {
    test(`fails when ${what}, and names it`, async () => {
      const { code, said } = await runSuites({ a: FOLDER, b: body })
      assert.equal(code, 1, said)
      assert.match(said, says)
    })
  }

  test('that is stopped names the test that has not ended, and leaves no temporary file', async () => {
    const hangs = `${FOLDER}\ntest('hangs', () => new Promise(() => setInterval(() => 0, 1_000)))`
    const { code, said } = await runSuites({ a: hangs }, { stopAt: 'daybook-tests-' })
    assert.equal(code, 1, said)
    assert.match(said, /^unfinished:\n(?: {2}.*\n)*? {2}.*\/test\/a\.test\.ts: hangs$/m)
  })

  test('of nothing fails, and so does an unknown word', async () => {
    for (const words of [['slow'], ['quik'], []]) {
      const { code, said } = await runSuites({ a: "test('fine', () => undefined)" }, { words })
      assert.equal(code, 1, said)
    }
  })
})
