import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, suite, test } from 'node:test'
import type { Script } from './bundle-cache.ts'
import { cached } from './bundle-cache.ts'

suite('the scripts of a clone', () => {
  let root: string
  let bundled: number
  const shelf = (): string => join(root, 'node_modules/.cache/daybook-islands')
  const kept = (): readonly string[] => readdirSync(shelf())
  let meanwhile = (): void => undefined
  const ask = (): Promise<readonly string[]> =>
    cached(root, () => {
      bundled += 1
      meanwhile()
      return Promise.resolve([{ name: 'a.js', body: Buffer.from(`bundle ${bundled}`) }])
    }).then((scripts) => scripts.map(textOf))
  const textOf = ({ name, body }: Script): string => `${name}: ${Buffer.from(body).toString()}`

  beforeEach(() => {
    bundled = 0
    meanwhile = () => undefined
    root = mkdtempSync(join(tmpdir(), 'daybook-bundle-'))
    mkdirSync(join(root, 'src/below'), { recursive: true })
    for (const name of ['package-lock.json', 'tsconfig.json', 'src/a.ts', 'src/below/b.ts']) {
      writeFileSync(join(root, name), name)
    }
  })
  afterEach(() => rmSync(root, { recursive: true }))

  test('are bundled once', async () => {
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 1'], ['a.js: bundle 1']])
  })

  for (const name of ['package-lock.json', 'tsconfig.json', 'src/a.ts', 'src/below/b.ts', 'src/below/c.ts']) {
    test(`are bundled again when ${name} is another, and the earlier ones are kept no longer`, async () => {
      await ask()
      writeFileSync(join(root, name), 'another')
      assert.deepEqual(await ask(), ['a.js: bundle 2'])
      assert.equal(kept().length, 1)
    })
  }

  test('are kept once by two processes that bundle at the same time', async () => {
    const both = await Promise.all([ask(), ask()])
    assert.deepEqual(both, [['a.js: bundle 1'], ['a.js: bundle 2']])
    assert.equal(kept().length, 1)
  })

  test('are bundled again where what was kept is not whole, as a disk leaves it that was cut off', async () => {
    await ask()
    for (const name of readdirSync(shelf(), { recursive: true, encoding: 'utf8' })) {
      truncateSync(join(shelf(), name), 0)
    }
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 2'], ['a.js: bundle 2']])
  })

  test('go away whole: one process can take no part of them for all while another tidies them away', async () => {
    await ask()
    const files = readdirSync(shelf(), { recursive: true, withFileTypes: true })
    assert.deepEqual(
      files.map((one) => one.isFile()),
      [true],
    )
  })

  test('are kept under no sources but their own, also when these change while they are bundled', async () => {
    meanwhile = () => writeFileSync(join(root, 'src/a.ts'), 'another')
    await ask()
    meanwhile = () => undefined
    writeFileSync(join(root, 'src/a.ts'), 'src/a.ts')
    assert.deepEqual(await ask(), ['a.js: bundle 2'])
  })

  test('are bundled, and not kept, where it cannot be told what they are made of', async () => {
    rmSync(join(root, 'package-lock.json'))
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 1'], ['a.js: bundle 2']])
    writeFileSync(join(root, 'package-lock.json'), 'there again')
    // As an editor leaves it beside a file that is open in it.
    symlinkSync('nobody', join(root, 'src/.#a.ts'))
    assert.deepEqual(await ask(), ['a.js: bundle 3'])
  })

  test('are bundled where nothing can be kept', async () => {
    writeFileSync(join(root, 'node_modules'), 'no folder')
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 1'], ['a.js: bundle 2']])
  })
})
