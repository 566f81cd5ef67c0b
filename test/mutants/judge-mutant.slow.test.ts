import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { suite, test } from 'node:test'
import { ROOT } from '../stage/places.ts'
import { judgeMutant } from './judge-mutant.ts'
import type { Mutant } from './mutant.ts'
import { runTestFile } from './run-test-file.ts'

const MODULE = `export const isLess = (a: number, b: number): boolean => a < b\nexport const spare: number = 1\n`
/** Tests the module in a thread, after the main thread has loaded it. */
const TEST = `
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { isLess } from './less.ts'
if (!isMainThread) parentPort.postMessage(isLess(1, 1))
else test('one is not less than one', async () => {
  const [answer] = await once(new Worker(import.meta.filename), 'message')
  assert.equal(answer, false)
})`

suite('a mutant', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-mutants-'))
  test.after(() => rmSync(folder, { recursive: true }))
  const place = (name: string): string => join(folder, name)
  writeFileSync(place('package.json'), '{"type":"module"}')
  writeFileSync(place('less.ts'), MODULE)
  writeFileSync(place('less.test.ts'), TEST)
  writeFileSync(place('other.test.ts'), `import { test } from 'node:test'\ntest('nothing', () => {})`)
  writeFileSync(place('endless.test.ts'), `import './less.ts'\nsetInterval(() => {}, 1_000)`)
  writeFileSync(
    place('waiting.test.ts'),
    `import { isLess } from './less.ts'\nif (!isLess(0, 1)) setInterval(() => {}, 1_000)`,
  )
  const stop = new AbortController().signal
  const file = relative(ROOT, place('less.ts'))
  const mutantOf = (from: string, to: string): Mutant => ({
    id: 'm',
    file,
    start: MODULE.indexOf(from),
    from,
    to,
  })
  const tested = (name: string) => [{ file: place(name), seconds: 1 }]

  test('is killed by a test that fails with it, in any thread and with compiled code of the source', async () => {
    process.env['NODE_COMPILE_CACHE'] = place('compiled')
    const before = await runTestFile(place('less.test.ts'), undefined, { msMax: 30_000, stop })
    assert.deepEqual([before.outcome, before.loaded], ['passed', false])
    const judged = await judgeMutant(mutantOf('a < b', 'a <= b'), tested('less.test.ts'), stop)
    assert.deepEqual(
      [judged.verdict, judged.by, judged.told],
      ['killed', place('less.test.ts'), 'one is not less than one'],
    )
    assert.equal(readFileSync(place('less.ts'), 'utf8'), MODULE)
  })

  test('survives tests that pass, and is unreached by tests that never load its module', async () => {
    const spare = mutantOf('spare: number = 1', 'spare: number = 2')
    const judged = await judgeMutant(spare, [...tested('other.test.ts'), ...tested('less.test.ts')], stop)
    assert.deepEqual([judged.verdict, judged.passed], ['survived', 2])
    assert.equal((await judgeMutant(spare, tested('other.test.ts'), stop)).verdict, 'unreached')
  })

  test('is dead when a test does not end with it, but ends without it', async () => {
    const other = mutantOf('a < b', 'a > b')
    const judge = (name: string, msMax: number) =>
      judgeMutant(other, [{ file: place(name), seconds: 0 }], stop, msMax)
    const [hung, busy] = [await judge('waiting.test.ts', 2_500), await judge('endless.test.ts', 1_000)]
    assert.deepEqual([hung.verdict, hung.by], ['hung', place('waiting.test.ts')])
    // Whether it has loaded the module in its time depends on the machine.
    assert.match(busy.verdict, /^(survived|unreached)$/)
    assert.equal(busy.passed, 0)
  })

  test('stops the run when its text is not in the source', async () => {
    await assert.rejects(
      judgeMutant(mutantOf('a < b', 'a > b'), tested('less.test.ts'), stop).then(() =>
        judgeMutant({ ...mutantOf('a < b', 'a > b'), start: 3 }, tested('less.test.ts'), stop),
      ),
      /its module changed/,
    )
  })
})
