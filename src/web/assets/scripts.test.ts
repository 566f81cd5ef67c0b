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
import { bundle, cachedScripts, type Script } from './scripts.ts'

suite('the cache of bundled scripts', () => {
  let root: string
  let bundled: number
  const folder = (): string => join(root, 'node_modules/.cache/daybook-islands')
  const cachedFiles = (): readonly string[] => readdirSync(folder())
  let whileBundling = (): void => undefined
  const ask = (): Promise<readonly string[]> =>
    cachedScripts(root, () => {
      bundled += 1
      whileBundling()
      return Promise.resolve([{ name: 'a.js', body: Buffer.from(`bundle ${bundled}`) }])
    }).then((scripts) => scripts.map(textOf))
  const textOf = ({ name, body }: Script): string => `${name}: ${Buffer.from(body).toString()}`

  beforeEach(() => {
    bundled = 0
    whileBundling = () => undefined
    root = mkdtempSync(join(tmpdir(), 'daybook-bundle-'))
    mkdirSync(join(root, 'src/below'), { recursive: true })
    for (const name of ['package-lock.json', 'tsconfig.json', 'src/a.ts', 'src/below/b.ts']) {
      writeFileSync(join(root, name), name)
    }
  })
  afterEach(() => rmSync(root, { recursive: true }))

  test('bundles once', async () => {
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 1'], ['a.js: bundle 1']])
  })

  for (const name of ['package-lock.json', 'tsconfig.json', 'src/a.ts', 'src/below/b.ts', 'src/below/c.ts']) {
    test(`bundles again when ${name} changes, and removes the earlier scripts`, async () => {
      await ask()
      writeFileSync(join(root, name), 'another')
      assert.deepEqual(await ask(), ['a.js: bundle 2'])
      assert.equal(cachedFiles().length, 1)
    })
  }

  test('bundles no second time when a test changes', async () => {
    await ask()
    writeFileSync(join(root, 'src/below/b.test.ts'), 'another')
    assert.deepEqual(await ask(), ['a.js: bundle 1'])
  })

  test('has one file after two processes bundled at the same time', async () => {
    const both = await Promise.all([ask(), ask()])
    assert.deepEqual(both, [['a.js: bundle 1'], ['a.js: bundle 2']])
    assert.equal(cachedFiles().length, 1)
  })

  test('bundles again if a file is truncated, as after a power failure', async () => {
    await ask()
    for (const name of readdirSync(folder(), { recursive: true, encoding: 'utf8' })) {
      truncateSync(join(folder(), name), 0)
    }
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 2'], ['a.js: bundle 2']])
  })

  test('has all scripts in one file, so that no process reads a part while another removes it', async () => {
    await ask()
    const files = readdirSync(folder(), { recursive: true, withFileTypes: true })
    assert.deepEqual(
      files.map((one) => one.isFile()),
      [true],
    )
  })

  test('stores no scripts whose sources changed while they were bundled', async () => {
    whileBundling = () => writeFileSync(join(root, 'src/a.ts'), 'another')
    await ask()
    whileBundling = () => undefined
    writeFileSync(join(root, 'src/a.ts'), 'src/a.ts')
    assert.deepEqual(await ask(), ['a.js: bundle 2'])
  })

  test('bundles and stores nothing if a source cannot be read', async () => {
    rmSync(join(root, 'package-lock.json'))
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 1'], ['a.js: bundle 2']])
    writeFileSync(join(root, 'package-lock.json'), 'there again')
    // A dangling link, as an editor's lock file.
    symlinkSync('nobody', join(root, 'src/.#a.ts'))
    assert.deepEqual(await ask(), ['a.js: bundle 3'])
  })

  test('bundles if nothing can be stored', async () => {
    writeFileSync(join(root, 'node_modules'), 'no folder')
    assert.deepEqual([await ask(), await ask()], [['a.js: bundle 1'], ['a.js: bundle 2']])
  })
})

suite('the bundler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-islands-'))
  mkdirSync(join(folder, 'islands'))
  writeFileSync(join(folder, 'islands', 'one.ts'), 'export const one: number = 1')
  writeFileSync(join(folder, 'islands', 'island-whole.ts'), "import { one } from './one.ts'\nalert(one)")
  writeFileSync(join(folder, 'islands', 'island-broken.ts'), "import './absent.ts'")
  test.after(() => rmSync(folder, { recursive: true }))

  test('makes one script of an island and its imports', async () => {
    const scripts = await bundle(folder, ['islands/island-whole.ts'])
    assert.deepEqual(
      scripts.map(({ name }) => name),
      ['whole.js'],
    )
    assert.match(Buffer.from(scripts[0]?.body ?? '').toString(), /^\(\(\)=>\{alert\(1\)/)
  })

  test('reports why a script cannot be made', async () => {
    await assert.rejects(bundle(folder, ['islands/island-broken.ts']), /Could not resolve "\.\/absent\.ts"/)
  })
})
