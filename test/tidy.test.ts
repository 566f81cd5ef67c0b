import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { suite, test } from 'node:test'
import { ROOT, textOf } from './document.ts'
import { codeOf, exportsOf, importsOf, RUNNING, SOURCES } from './tree.ts'

/** The rooms that each room may import, beside itself. */
const BORDERS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  tlog: ['protocol'],
  project: ['protocol'],
  log: ['protocol', 'tlog', 'project'],
  publish: ['protocol', 'log', 'project'],
  serve: ['protocol', 'project', 'log'],
  client: ['protocol', 'tlog'],
  verify: ['protocol', 'tlog', 'project', 'client'],
  command: ['protocol', 'tlog', 'project', 'log', 'publish', 'serve', 'client', 'verify', 'sim', 'package'],
  main: ['protocol', 'command'],
  sim: ['protocol', 'client'],
}
/** What `serve` may import of `log`: what reads. */
const READING = new Set(['src/log/reader.ts'])
/** Rooms that run in any runtime. */
const PORTABLE = ['protocol', 'project', 'tlog', 'client', 'verify']
/** Where a thread begins, or a page's script: these alone may read what they have around them. */
const isRoot = (path: string): boolean =>
  path === 'src/main.ts' || path.endsWith('-thread.ts') || isIsland(path)
const isIsland = (path: string): boolean => /\/island-[a-z-]+\.ts$/.test(path)
/** Where a client takes the clock, timers and chance of whatever runs it, unless they are handed in. */
const SURROUNDINGS = 'src/client/surroundings.ts'

function roomOf(path: string): string {
  if (path === 'package.json') return 'package'
  const [top = '', room = ''] = path.split('/')
  return top === 'src' ? room.replace(/\.ts$/, '') : top
}

/** `api` for `src/serve/api/x.ts`; empty for what the ways out share. */
function wayOut(path: string): string {
  return /^src\/serve\/([a-z]+)\//.exec(path)?.[1] ?? ''
}

function whyNot(from: string, to: string): string | null {
  const [room, other] = [roomOf(from), roomOf(to)]
  // A page's script runs elsewhere than what serves it.
  if (isIsland(from) && (other === 'client' || other === 'tlog')) return null
  if (room !== other && !(BORDERS[room] ?? []).includes(other)) return `${room} may not import ${other}`
  if (to === 'src/log/append.ts' && room !== 'publish' && room !== 'log') return 'only publish may append'
  if (room === 'serve' && other === 'log' && !READING.has(to)) return 'serve may only read the log'
  if (room === 'serve' && other === 'serve' && wayOut(to) !== '' && wayOut(from) !== wayOut(to)) {
    return 'ways out may not import each other'
  }
  return null
}

/** The files in whose code the pattern stands. */
function filesWith(pattern: RegExp, files: readonly string[]): readonly string[] {
  return files.filter((path) => pattern.test(codeOf(path)))
}

suite('a room', () => {
  test('imports only what its room may', () => {
    assert.ok(RUNNING.length > 100, 'the tree is there')
    const broken = RUNNING.flatMap((from) =>
      importsOf(from).flatMap((to) => {
        const why = whyNot(from, to)
        return why === null ? [] : [`${from} imports ${to}: ${why}`]
      }),
    )
    assert.deepEqual(broken, [])
  })

  test('would be told from another that it may not import', () => {
    assert.notEqual(whyNot('src/serve/api/event.ts', 'src/log/append.ts'), null)
    assert.notEqual(whyNot('src/serve/api/event.ts', 'src/serve/stream/hub.ts'), null)
    assert.notEqual(whyNot('src/serve/front.ts', 'src/publish/door.ts'), null)
    assert.notEqual(whyNot('src/protocol/seq.ts', 'src/project/books.ts'), null)
    assert.equal(whyNot('src/publish/writer-thread.ts', 'src/log/append.ts'), null)
  })

  test('has a border in the table, and the table of ARCHITECTURE.md names it', () => {
    const table = textOf('ARCHITECTURE.md')
    for (const room of new Set(RUNNING.map(roomOf))) {
      assert.ok(room in BORDERS, room)
      assert.match(table, new RegExp(`^\\| .*\`${room}(?:\\.ts)?\``, 'mu'), room)
    }
  })

  test('that runs everywhere uses nothing of one runtime, and no clock or chance', () => {
    const portable = RUNNING.filter((path) => path.startsWith('src/') && PORTABLE.includes(roomOf(path)))
    assert.deepEqual(
      portable.filter((path) => /from 'node:/.test(textOf(path))),
      [],
    )
    const foreign =
      /\b(?:Buffer|process|performance|setTimeout|setInterval|setImmediate|Date\.now|Math\.random|new Date\(\))/
    assert.deepEqual(filesWith(foreign, portable), [SURROUNDINGS])
  })

  test('reads the clock, chance and the process only at the root of a thread', () => {
    const ambient =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bprocess\.(?!versions\b)|\bparentPort\b|\bworkerData\b(?=\s*[;,}]\s*from)/
    const files = filesWith(ambient, RUNNING).filter((path) => !isRoot(path))
    assert.deepEqual(files, [SURROUNDINGS])
    const roots = RUNNING.filter((path) => path.endsWith('-thread.ts'))
    assert.deepEqual(filesWith(/\bparentPort\b/, RUNNING), roots)
  })
})

/** Words that say nothing, with what to say instead. */
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

/** Names that keep such a word, each with its reason. */
const KEPT: Readonly<Record<string, string>> = {
  recordOf: 'makes a Record of the language',
  openDatabase: 'a database is one word',
  Service: 'the whole that runs, as its users call it',
  ServiceOptions: 'of the whole that runs',
  ServiceSettings: 'of the whole that runs',
  ServiceMetrics: 'of the whole that runs',
  openServiceMetrics: 'of the whole that runs',
  startService: 'starts the whole',
  ModelService: 'the whole, as the model runs it',
  openModelService: 'the whole, as the model runs it',
  BenchService: 'the whole, as the benchmarks run it',
  startBenchService: 'the whole, as the benchmarks run it',
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

suite('a source', () => {
  test('is named in kebab-case after what it holds', () => {
    const form = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?(?:-d)?\.ts$/
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

  test('has 300 lines at most', () => {
    const long = SOURCES.filter((path) => textOf(path).trimEnd().split('\n').length > 300)
    assert.deepEqual(long, [])
  })

  test('exports names, and none by default', () => {
    // The runner takes a reporter's default export.
    assert.deepEqual(filesWith(/\bexport default\b/, SOURCES), ['test/skips-reporter.ts'])
  })

  test('and what it exports has no name that says nothing', () => {
    const named = SOURCES.flatMap((path) => [
      { path, name: basename(path).replace(/(?:\.test)?(?:-d)?\.ts$/, '') },
      ...exportsOf(path).map((name) => ({ path, name })),
    ])
    const vague = named
      .filter(({ name }) => !Object.hasOwn(KEPT, name))
      .flatMap(({ path, name }) => bannedIn(name).map((word) => `${path}: ${name} says ${word}`))
    assert.deepEqual(vague, [])
  })

  test('keeps such a name only where there is one', () => {
    const names = new Set(
      SOURCES.flatMap((path) => [basename(path).replace(/(?:\.test)?\.ts$/, ''), ...exportsOf(path)]),
    )
    assert.deepEqual(
      Object.keys(KEPT).filter((name) => !names.has(name)),
      [],
    )
  })

  test('is found out by any word of its names', () => {
    assert.deepEqual(bannedIn('userManager'), ['manager'])
    assert.deepEqual(bannedIn('processEvents'), ['proces'])
    assert.deepEqual(bannedIn('dataDirectory'), ['data'])
    assert.deepEqual(bannedIn('appendEvents'), [])
  })
})

suite('the suites', () => {
  test('are all run by npm test, each once', () => {
    const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(textOf('package.json'))
    const run = ['test:service', 'test:pages'].flatMap((name) => {
      const globs = [...(scripts[name] ?? '').matchAll(/'([^']+\.test\.ts)'/g)].map(([, glob = '']) => glob)
      return globSync(globs, { cwd: ROOT })
    })
    const all = SOURCES.filter((path) => path.endsWith('.test.ts'))
    assert.ok(all.length > 200, 'the suites are there')
    assert.deepEqual(run.toSorted(), [...all].toSorted())
  })

  test('skip nothing on CI but real input: what needs a part of the machine says so with skipUnless', () => {
    const suites = SOURCES.filter((path) => path.endsWith('.test.ts'))
    const own = filesWith(/\{\sskip\b(?!: skip(?:Unless|Without)\()|\.skip\(/, suites)
    // Elsewhere is a service of somebody else, which may have another allowance.
    assert.deepEqual(own, ['test/http.test.ts', 'test/real-input.test.ts'])
  })

  test('and all that runs reach no file outside the project', () => {
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
