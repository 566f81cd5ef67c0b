import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { codeOf, exportsOf, filesWith, importsOf, PRODUCT_SOURCES, SOURCES } from '../stage/source-tree.ts'

/** Words that say nothing, with replacements. */
const BANNED: Readonly<Record<string, string>> = {
  record: 'event, draft, row',
  item: 'event, row, part',
  data: 'what it is: events, bytes, lines',
  info: 'what it says',
  manager: 'what it does',
  service: 'what it serves',
  helper: 'the noun that it serves',
  handler: 'a verb',
  process: 'a verb that says what is done',
  util: 'the noun that it serves',
}

/** Names that keep such a word, with the reason. */
const KEPT: Readonly<Record<string, string>> = {
  recordOf: 'makes a Record of the language',
  openDatabase: 'a database is one word',
  Service: 'the whole that runs, as its users call it',
  ServiceOptions: 'of the whole that runs',
  ServiceSettings: 'of the whole that runs',
  startService: 'starts the whole',
  ModelService: 'the whole, as the model runs it',
  openModelService: 'the whole, as the model runs it',
  NodeProcess: 'a process of the system',
  service: 'a file of the whole that runs',
  'service-metrics': 'a file of the whole that runs',
  'model-service': 'a file of the whole that runs',
  'node-process': 'a file about processes of the system',
}

function bannedIn(name: string): readonly string[] {
  const words = name.split(/(?=[A-Z])|[-_]/).map((word) => word.toLowerCase().replace(/s$/, ''))
  return words.filter((word) => Object.hasOwn(BANNED, word.replace(/proces$/, 'process')))
}

/** The files, and those that import one of them, directly or through others. */
function withImporters(files: readonly string[]): ReadonlySet<string> {
  const imports = SOURCES.flatMap((path) => importsOf(path).map((imported) => ({ path, imported })))
  const importers = Map.groupBy(imports, ({ imported }) => imported)
  const found = new Set(files)
  // A set also iterates what is added meanwhile.
  for (const file of found) for (const { path } of importers.get(file) ?? []) found.add(path)
  return found
}

suite('a source', () => {
  test('has a kebab-case name that is not vague', () => {
    const form = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:(?:\.slow)?\.test)?(?:-d)?\.ts$/
    assert.deepEqual(
      SOURCES.filter((path) => !form.test(basename(path))),
      [],
    )
    const vague = /^(?:utils?|common|helpers?|types?|misc|shared|index)\.ts$/
    assert.deepEqual(
      SOURCES.filter((path) => vague.test(basename(path)) && path !== 'src/client/index.ts'),
      [],
    )
  })

  test('has no default export', () => {
    // The test runner requires a reporter's default export.
    assert.deepEqual(filesWith(/\bexport default\b/, SOURCES), ['test/stage/skips-reporter.ts'])
  })

  test('begins no doc comment with a question word', () => {
    const questions = SOURCES.flatMap((path) =>
      [...textOf(path).matchAll(/\/\*\*[\s*]+(?:What|Why|How)\b.*/g)].map(
        ([comment]) => `${path}: ${comment}`,
      ),
    )
    assert.deepEqual(questions, [])
  })

  test('and its exports have no vague name', () => {
    const named = SOURCES.flatMap((path) => [
      { path, name: basename(path).replace(/(?:\.slow)?(?:\.test)?(?:-d)?\.ts$/, '') },
      ...exportsOf(path).map((name) => ({ path, name })),
    ])
    const vague = named
      .filter(({ name }) => !Object.hasOwn(KEPT, name))
      .flatMap(({ path, name }) => bannedIn(name).map((word) => `${path}: ${name} says ${word}`))
    assert.deepEqual(vague, [])
  })

  test('of the product has a unique file name', () => {
    const named = Map.groupBy([...PRODUCT_SOURCES, 'package/package-manifest.ts'], (path) => basename(path))
    const twice = [...named.values()].filter((paths) => paths.length > 1)
    assert.deepEqual(twice, [])
  })

  test('of the product exports only unique names', () => {
    const exported = PRODUCT_SOURCES.flatMap((path) => exportsOf(path).map((name) => ({ path, name })))
    const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(([, uses]) => uses.length > 1)
    const told = twice.map(([name, uses]) => `${name}: ${uses.map(({ path }) => path).join(', ')}`)
    assert.deepEqual(told, [])
  })

  test('has no outdated exception for a vague name', () => {
    const names = new Set(
      SOURCES.flatMap((path) => [
        basename(path).replace(/(?:\.slow)?(?:\.test)?\.ts$/, ''),
        ...exportsOf(path),
      ]),
    )
    assert.deepEqual(
      Object.keys(KEPT).filter((name) => !names.has(name)),
      [],
    )
  })

  test('fails for a vague word anywhere in a name', () => {
    assert.deepEqual(bannedIn('userManager'), ['manager'])
    assert.deepEqual(bannedIn('processEvents'), ['proces'])
    assert.deepEqual(bannedIn('dataDirectory'), ['data'])
    assert.deepEqual(bannedIn('appendEvents'), [])
  })

  test('exports only names that another source uses', () => {
    const used = [...SOURCES, 'package/build.ts'].map((path) => ({
      path,
      words: new Set(codeOf(path).match(/[\w$]+/g)),
    }))
    const unused = SOURCES.flatMap((path) =>
      exportsOf(path)
        .filter((name) => !used.some((other) => other.path !== path && other.words.has(name)))
        .map((name) => `${path}: ${name}`),
    )
    assert.deepEqual(unused, [])
  })
})

suite('the suites', () => {
  test('of npm test need no browser and no other program', () => {
    const quick = SOURCES.filter((path) => path.endsWith('.test.ts') && !path.endsWith('.slow.test.ts'))
    assert.ok(quick.length > 200, 'the suites are found')
    // A test says which programs it needs: with `skipWithout`, or with `skipUnless` and such as `hasPostgres`.
    const needs = /^import .* from 'playwright-core'|\bskipWithout\((?!\.)|\bskipUnless\((?:has[A-Z]|HAS_)/m
    const needing = withImporters(SOURCES.filter((path) => needs.test(textOf(path))))
    assert.ok(needing.size > 20, 'the slow tests that need them are found')
    assert.deepEqual(
      quick.filter((path) => needing.has(path)),
      [],
    )
  })

  test('skip only real input on CI, and test for programs with skipUnless', () => {
    const suites = SOURCES.filter((path) => path.endsWith('.test.ts'))
    const own = filesWith(/\{\sskip\b(?!: skip(?:Unless|Without)\()|\.skip\(/, suites)
    assert.deepEqual(own, ['test/books/real-input.slow.test.ts'])
  })

  test('and the product name no file outside the project', () => {
    const outside = SOURCES.flatMap((path) => {
      const folders = path.split('/').length - 1
      const ways = [...textOf(path).matchAll(/import\.meta\.dirname((?:, '\.\.')+)|'((?:\.\.\/)+)/g)]
      const ups = ways.map(
        ([, words = '', steps = '']) => words.split("'..'").length - 1 + steps.split('../').length - 1,
      )
      return ups.some((up) => up > folders) ? [path] : []
    })
    assert.deepEqual(outside, [])
  })
})
