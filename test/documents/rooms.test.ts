import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { filesBelow, filesWith, importsOf, PRODUCT_SOURCES, SOURCES } from '../stage/source-tree.ts'

/** Rooms of the core. None of them imports an option. */
const CORE = [
  'protocol',
  'tlog',
  'project',
  'log',
  'publish',
  'serve',
  'web',
  'client',
  'verify',
  'conform',
  'command',
]
/** Options, each a room that can be deleted. None of them imports another. */
const OPTION_ROOMS = ['cluster', 'finality', 'mirror', 'outbox', 'witness']
/** Rooms that each room may import besides itself. */
const BORDERS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  tlog: ['protocol'],
  project: ['protocol'],
  log: ['protocol', 'tlog', 'project'],
  publish: ['protocol', 'log', 'project'],
  serve: ['protocol', 'project', 'log'],
  web: ['protocol', 'tlog', 'project', 'serve', 'log'],
  'web/islands': ['protocol', 'tlog', 'client', 'verify', 'web'],
  client: ['protocol', 'tlog'],
  verify: ['protocol', 'tlog', 'project', 'client'],
  conform: ['protocol', 'client'],
  command: [...CORE, 'sim', 'package'],
  ...Object.fromEntries(OPTION_ROOMS.map((room) => [room, [...CORE, 'web/islands']])),
  'plugged-options': ['command', ...OPTION_ROOMS],
  main: ['protocol', 'command', 'plugged-options'],
  sim: ['protocol', 'client'],
}
/** The only file of `log` that `serve` and `web` may import. */
const READING = 'src/log/store/reader.ts'
/** Folders that run in any runtime. */
const PORTABLE = /^src\/(?:protocol|project|tlog|client|verify|finality\/(?:chain|rpc|audit))\//
/** Entry points of threads and page scripts. Only these may read the globals of their runtime. */
const isRoot = (path: string): boolean =>
  path === 'src/main.ts' || path.endsWith('-thread.ts') || roomOf(path) === 'web/islands'
/** Defaults of the client: clock, timers and randomness of the runtime. */
const SURROUNDINGS = 'src/client/surroundings.ts'

function roomOf(path: string): string {
  if (path === 'package.json') return 'package'
  if (path.startsWith('src/web/islands/')) return 'web/islands'
  const [top = '', room = ''] = path.split('/')
  return top === 'src' ? room.replace(/\.ts$/, '') : top
}

/** `api` for `src/serve/api/x.ts`; empty outside of `api`, `stream` and `archive`. */
function servedPart(path: string): string {
  return /^src\/serve\/(api|stream|archive)\//.exec(path)?.[1] ?? ''
}

function whyNot(from: string, to: string): string | null {
  const [room, other] = [roomOf(from), roomOf(to)]
  if (room !== other && !(BORDERS[room] ?? []).includes(other)) return `${room} may not import ${other}`
  if (to === 'src/log/append.ts' && !['publish', 'mirror', 'cluster', 'log'].includes(room))
    return 'only publish, mirror and cluster may append'
  if ((room === 'serve' || room === 'web') && other === 'log' && to !== READING)
    return `${room} may only read the log`
  if (servedPart(from) !== '' && servedPart(to) !== '' && servedPart(from) !== servedPart(to)) {
    return 'api, stream and archive may not import each other'
  }
  return null
}

suite('a room', () => {
  test('imports only the rooms that the table allows', () => {
    assert.ok(PRODUCT_SOURCES.length > 100, 'the sources are found')
    const broken = PRODUCT_SOURCES.flatMap((from) =>
      importsOf(from).flatMap((to) => {
        const why = whyNot(from, to)
        return why === null ? [] : [`${from} imports ${to}: ${why}`]
      }),
    )
    assert.deepEqual(broken, [])
  })

  test('is refused a forbidden import by this check', () => {
    assert.notEqual(whyNot('src/serve/api/api-routes.ts', 'src/log/append.ts'), null)
    assert.notEqual(whyNot('src/serve/api/api-routes.ts', 'src/serve/stream/streams.ts'), null)
    assert.notEqual(whyNot('src/serve/api/root-routes.ts', 'src/publish/api/publish-api.ts'), null)
    assert.notEqual(whyNot('src/protocol/seq.ts', 'src/project/fold/books.ts'), null)
    assert.notEqual(whyNot('src/serve/api/api-routes.ts', 'src/web/web-routes.ts'), null)
    assert.notEqual(whyNot('src/web/frame/page.ts', 'src/client/ask.ts'), null)
    assert.notEqual(whyNot('src/web/islands/island-theme.ts', 'src/serve/server.ts'), null)
    assert.equal(whyNot('src/publish/writer/writer-thread.ts', 'src/log/append.ts'), null)
  })

  test('is in this table and in that of ARCHITECTURE.md', () => {
    const table = textOf('ARCHITECTURE.md')
    for (const room of new Set(PRODUCT_SOURCES.map(roomOf))) {
      assert.ok(room in BORDERS, room)
      assert.match(table, new RegExp(`^\\| .*\`${room}(?:\\.ts)?\``, 'mu'), room)
    }
  })

  test('for any runtime uses no API of Node or browsers, no clock and no randomness', () => {
    const portable = PRODUCT_SOURCES.filter((path) => PORTABLE.test(path))
    assert.deepEqual(
      portable.filter((path) => /from 'node:/.test(textOf(path))),
      [],
    )
    const foreign =
      /\b(?:Buffer|process|performance|setTimeout|setInterval|setImmediate|Date\.now|Math\.random|new Date\(\))/
    assert.deepEqual(filesWith(foreign, portable), [SURROUNDINGS])
  })

  test('reads clock, randomness and process only in the entry point of a thread', () => {
    const ambient =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bprocess\.(?!versions\b)|\bparentPort\b|\bworkerData\b(?=\s*[;,}]\s*from)/
    const files = filesWith(ambient, PRODUCT_SOURCES).filter((path) => !isRoot(path))
    assert.deepEqual(files, [SURROUNDINGS])
    const roots = PRODUCT_SOURCES.filter((path) => path.endsWith('-thread.ts'))
    assert.deepEqual(filesWith(/\bparentPort\b/, PRODUCT_SOURCES), roots)
  })
})

/** Folders of sources, and the folders that the files of each import. */
function folderImports(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const path of SOURCES.filter((source) => !/^(?:src|sim)\/.*\.test\.ts$/.test(source))) {
    const folder = dirname(path)
    const others = found.get(folder) ?? new Set()
    found.set(folder, others)
    for (const to of importsOf(path)) if (dirname(to) !== folder) others.add(dirname(to))
  }
  return found
}

/** Path from the folder along imports back to itself; undefined if there is none. */
function circleFrom(
  start: string,
  imports: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  const seen = new Set<string>()
  const open: (readonly string[])[] = [[start]]
  for (let way = open.shift(); way !== undefined; way = open.shift()) {
    for (const next of imports.get(way.at(-1) ?? start) ?? []) {
      if (next === start) return [...way, next]
      if (!seen.has(next)) open.push([...way, next])
      seen.add(next)
    }
  }
  return undefined
}

/** Files in one folder. */
const FOLDER_FILES_MAX = 30

suite('a folder', () => {
  test('imports no folder that imports it', () => {
    const imports = folderImports()
    assert.ok(imports.size > 30, 'the folders are found')
    const circles = [...imports.keys()].flatMap((folder) => circleFrom(folder, imports)?.join(' → ') ?? [])
    assert.deepEqual(circles, [])
    assert.deepEqual(
      circleFrom(
        'a',
        new Map([
          ['a', new Set(['b'])],
          ['b', new Set(['a'])],
        ]),
      ),
      ['a', 'b', 'a'],
    )
  })

  test(`has ${FOLDER_FILES_MAX} files at most`, () => {
    const counts = Map.groupBy(['src', 'sim', 'bench', 'test'].flatMap(filesBelow), (path) => dirname(path))
    const full = [...counts].filter(([, files]) => files.length > FOLDER_FILES_MAX)
    assert.deepEqual(
      full.map(([folder, files]) => `${folder}: ${files.length}`),
      [],
    )
  })
})
