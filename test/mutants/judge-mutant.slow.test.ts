import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { suite, test } from 'node:test'
import { ROOT } from '../stage/places.ts'
import { mutantsOf, testsNear } from './generate-mutants.ts'
import { judgeMutant, type Mutant } from './judge-mutant.ts'

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

  test('is killed by a test that fails with it in any thread, and the source stays as it is', async () => {
    const judged = await judgeMutant(mutantOf('a < b', 'a <= b'), [place('less.test.ts')], stop)
    assert.deepEqual(
      [judged.verdict, judged.by, judged.told],
      ['killed', place('less.test.ts'), 'one is not less than one'],
    )
    assert.equal(readFileSync(place('less.ts'), 'utf8'), MODULE)
  })

  test('survives tests that pass, and is unreached by tests that never load its module', async () => {
    const spare = mutantOf('spare: number = 1', 'spare: number = 2')
    const tests = [place('other.test.ts'), place('less.test.ts')]
    assert.equal((await judgeMutant(spare, tests, stop)).verdict, 'survived')
    assert.equal((await judgeMutant(spare, tests.slice(0, 1), stop)).verdict, 'unreached')
  })

  test('is dead when a test does not end with it, but ends without it', async () => {
    const judged = await judgeMutant(mutantOf('a < b', 'a > b'), [place('waiting.test.ts')], stop, 2_500)
    assert.equal(judged.verdict, 'hung')
  })

  test('stops the run when its text is not in the source', async () => {
    const moved = { ...mutantOf('a < b', 'a > b'), start: 3 }
    await assert.rejects(judgeMutant(moved, [place('less.test.ts')], stop), /its module changed/)
  })
})

suite('generated mutants', () => {
  test('follow each rule, and change no type, import, text or check of our own', () => {
    const source = `import { assert } from './brand.ts'
type Pair = Readonly<{ low: 0 | 1 }>
export function first(low: number, high: number): number | undefined {
  assert(low <= high, 'in order')
  if (low === high) return undefined
  note('a text with 1 < 2')
  return low < high ? low + 1 : 0
}
`
    assert.deepEqual(
      mutantsOf('x.ts', source).map(({ id }) => id),
      [
        'x.ts:5 low === high → !(low === high)',
        'x.ts:5 === → !==',
        "x.ts:6 note('a text with 1 < 2') → ;",
        'x.ts:7 low < high → !(low < high)',
        'x.ts:7 < → <=',
        'x.ts:7 + → -',
        'x.ts:7 1 → 2',
        'x.ts:7 0 → 1',
      ],
    )
  })

  test('are judged by the tests that load their source, the one beside it first', () => {
    const [first, ...others] = testsNear('src/protocol/moment.ts')
    assert.equal(first, 'src/protocol/moment.test.ts')
    assert.ok(others.length > 3)
  })
})
