import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { build } from 'esbuild-wasm'
import { chromium } from 'playwright-core'
import { pathOf, skipWithout } from '../processes/test-needs.ts'
import { blocksOf, linksOf, textOf } from '../stage/document.ts'
import { openProject, packClone, type Packed, type Project } from '../stage/package-stage.ts'
import { ROOT, SAMPLE } from '../stage/places.ts'
import { decodePng } from '../web/png.ts'

const SAMPLE_EVENTS = 2_187
/** A user's program: prints the newest event, and counts the events by iteration. */
const USE = `import { openDaybook } from 'daybook/client'
export async function use(base) {
  const daybook = openDaybook(base)
  let count = 0
  for await (const { seq } of daybook.events({ type: ['payout'] })) count += seq > 0 ? 1 : 0
  return [(await daybook.summary()).events, count]
}
`
const SAMPLE_PAYOUTS = textOf('test/sample/sample.drafts.jsonl').match(/"type":"payout"/g)?.length
const TYPED = `import { openDaybook } from 'daybook/client'
import { sharedStream } from 'daybook/client/tabs'
import { audit } from 'daybook/verify/audit'
export const events: number = (await openDaybook('').summary()).events
// @ts-expect-error: a figure is no text
export const text: string = (await openDaybook('').summary()).events
export const all = [sharedStream, audit]
`
const PATHS = (process.env['PATH'] ?? '').split(':')
const isOld = (node: string): boolean => {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && Number(/^v(\d+)/.exec(stdout)?.[1]) < 24
}
const OLD_NODE = PATHS.map((folder) => join(folder, 'node')).find(isOld)
const TOLD = `Object.defineProperty(process.versions, 'node', { value: '20.19.0' })`
/** An older Node if this machine has one, else this Node under an older version number. */
const OLDER_NODE: readonly string[] =
  OLD_NODE === undefined
    ? [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(TOLD)}`]
    : [OLD_NODE]
/** It runs without the options of `npm run test:scanned`, which an older Node cannot take. */
const OLDER = ['env', '-u', 'NODE_OPTIONS', ...OLDER_NODE] as const
const CHROMIUM = pathOf('chromium') ?? ''

type Bill = Readonly<{
  bomFormat: string
  metadata: Readonly<{ component: Readonly<{ purl: string }> }>
  components: readonly Readonly<{ purl: string; hashes: readonly Readonly<{ content: string }>[] }>[]
}>
type Locked = Readonly<{
  version: string
  integrity: string
  dev?: true
  optional?: true
  devOptional?: true
}>

/** Most bytes of the tarball of the client. */
const CLIENT_BYTES_MAX = 48 * 1024
/** A program that uses each entry of the client's package. */
const USE_CLIENT = `import { formatAmount, openDaybook } from 'daybook-client'
import { sumOf } from 'daybook-client/sums'
import { sharedStream } from 'daybook-client/tabs'
const { burned } = await sumOf([])
const { events } = await openDaybook(process.argv[2]).summary()
console.log(JSON.stringify([events, formatAmount(burned), typeof sharedStream]))
`
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const STRICT = ['--noEmit', '--strict', '--target', 'es2022', '--types', '', '--lib']
const LIB = 'es2023,dom,dom.iterable,dom.asynciterable'

/** Compiles a file of a project as a user would, with the given options. */
const compile = ({ run }: Project, file: string, ...words: readonly string[]): ReturnType<Project['run']> =>
  run(process.execPath, TSC, ...STRICT, LIB, ...words, file)

/** Links of a packed document whose targets are not in the tarball. */
const deadLinks = (path: string, text: string, files: readonly string[]): readonly string[] =>
  linksOf(text)
    .map((target) => join(dirname(path), target))
    .filter((target) => !files.some((one) => one === target || one.startsWith(`${target}/`)))

suite('the packages', () => {
  let packed: Packed
  let project: Project
  let service: Awaited<ReturnType<Project['listen']>>
  before(async () => {
    packed = await packClone()
    project = await openProject(packed.whole)
    const imported = await npx('import', SAMPLE, '--data', 'book', '--origin', 'data.example.org/book')
    assert.equal(imported.code, 0, imported.stderr)
    service = await project.listen('serve', '--data', 'book', '--rate-limit', 'off', '--workers', '2')
  })
  after(async () => {
    await service?.end()
    await project?.[Symbol.asyncDispose]()
    await packed?.[Symbol.asyncDispose]()
  })
  const npx = (...words: readonly string[]): ReturnType<Project['run']> =>
    project.run('npx', '--no-install', 'daybook', ...words)

  test('contains JavaScript, types, documents and examples, and no TypeScript source', () => {
    const { files } = packed.whole
    const sources = files.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    assert.deepEqual(sources, [])
    for (const path of [
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'package/daybook.cjs',
      'ops/nginx/daybook.conf',
    ]) {
      assert.ok(files.includes(path), path)
    }
    assert.deepEqual(
      files.filter((path) => path.includes('daybook-client')),
      [],
    )
  })

  test('contains nothing that only a clone has', () => {
    const { files } = packed.whole
    const foreign =
      /^(?:docs\/(?:decisions|pictures|style)|ARCHITECTURE|CONTRIBUTING|src|test|bench|sim)|\.map$/
    assert.deepEqual(
      files.filter((path) => foreign.test(path)),
      [],
    )
    const shown = /^dist\/src\/(?:client|finality|project|protocol|tlog|verify)\//
    assert.deepEqual(
      files.filter((path) => path.endsWith('.d.ts') && !shown.test(path)),
      [],
      'only the types of its entries',
    )
  })

  test('contains documents of its own, which link to no file of a clone', async () => {
    const { files } = packed.whole
    const textIn = (path: string): Promise<string> =>
      readFile(join(project.folder, 'node_modules', 'daybook', path), 'utf8')
    for (const path of files.filter((one) => one.endsWith('.md')))
      assert.deepEqual(deadLinks(path, await textIn(path), files), [], path)
    const readme = await textIn('README.md')
    assert.equal(readme, textOf('package/whole/README.md'))
    const example = blocksOf(readme).find(({ language }) => language === 'ts')
    await writeFile(join(project.folder, 'example.ts'), example?.text ?? '')
    const { code, stdout } = await compile(project, 'example.ts', '--module', 'nodenext')
    assert.equal(code, 0, stdout)
  })

  test('contains no Node, and a release does not change the clone', async () => {
    const { stdout } = await project.run('ls', 'node_modules')
    assert.doesNotMatch(stdout, /^node-/m)
    const { stdout: changed } = await project.run('git', '-C', packed.clone, 'status', '--porcelain')
    assert.equal(changed, '')
  })

  test('prints its version', async () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string }
    assert.equal((await npx('--version')).stdout, `${version}\n`)
  })

  test('has a client that runs in Node', async () => {
    await writeFile(join(project.folder, 'use.js'), USE)
    const script = `import { use } from './use.js'; console.log(JSON.stringify(await use('${service.url}')))`
    const { stdout, stderr } = await project.run(process.execPath, '--input-type=module', '-e', script)
    assert.deepEqual(JSON.parse(stdout || stderr), [SAMPLE_EVENTS, SAMPLE_PAYOUTS])
  })

  test('has a client that runs in Chromium', { skip: skipWithout('chromium') }, async () => {
    const stdin = { contents: USE, resolveDir: project.folder }
    const { outputFiles } = await build({
      stdin,
      bundle: true,
      format: 'iife',
      globalName: 'page',
      write: false,
    })
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu'],
    })
    try {
      const page = await browser.newPage()
      await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
      const found = await page.evaluate(`page.use('${service.url}')`)
      assert.deepEqual(found, [SAMPLE_EVENTS, SAMPLE_PAYOUTS])
    } finally {
      await browser.close()
    }
  })

  test('has types that pass a strict compiler', async () => {
    await writeFile(join(project.folder, 'typed.ts'), TYPED)
    const { code, stdout } = await compile(project, 'typed.ts', '--module', 'nodenext')
    assert.equal(code, 0, stdout)
  })

  test('include the client alone, small and without dependencies, for an older Node too', async () => {
    const { bytes, files } = packed.client
    assert.ok(bytes <= CLIENT_BYTES_MAX, `${bytes} bytes`)
    const own = /^(?:client\/|protocol\/|README\.md$|LICENSE$|package\.json$)/
    assert.deepEqual(
      files.filter((path) => !own.test(path)),
      [],
    )
    assert.deepEqual(deadLinks('README.md', textOf('package/client/README.md'), files), [])
    await using reader = await openProject(packed.client)
    await writeFile(join(reader.folder, 'use.js'), USE_CLIENT)
    for (const words of [OLDER, [process.execPath] as const]) {
      const [node, ...options] = words
      const { stdout, stderr } = await reader.run(node, ...options, 'use.js', service.url)
      assert.deepEqual(JSON.parse(stdout || stderr), [SAMPLE_EVENTS, '0.000000000', 'function'])
    }
    const [example, ...others] = blocksOf(textOf('package/client/README.md'))
    assert.ok(example?.language === 'ts' && others.length === 0)
    await writeFile(join(reader.folder, 'example.ts'), example.text)
    // The example says `console.log`, which is in the library of browsers too.
    for (const module of [['nodenext'], ['node16'], ['esnext', '--moduleResolution', 'bundler']]) {
      const { code, stdout } = await compile(reader, 'example.ts', '--module', ...module)
      assert.equal(code, 0, `${module.join(' ')}: ${stdout}`)
    }
    const listed = await reader.run('npm', 'ls', '--all', '--parseable')
    assert.equal(listed.stdout.trim().split('\n').length, 2, listed.stdout)
  })

  test('serves, tails and verifies through npx', async () => {
    const tailed = await npx('tail', service.url, '--last', '3', '--no-follow')
    assert.equal(tailed.code, 0, tailed.stderr)
    const seqs = tailed.stdout.split('\n').flatMap((line) => /"seq":(\d+)/.exec(line)?.[1] ?? [])
    assert.deepEqual(seqs.map(Number), [SAMPLE_EVENTS - 2, SAMPLE_EVENTS - 1, SAMPLE_EVENTS])
    const verified = await npx('verify', service.url)
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
  })

  test('serves its pages with their style and scripts', async () => {
    const html = await (await fetch(`${service.url}/`, { headers: { accept: 'text/html' } })).text()
    const files = new Set(html.match(/\/assets\/[a-z-]+\.[0-9a-f]+\.(?:css|js|woff2)/g))
    assert.ok(files.size > 1, html)
    for (const path of files) {
      const answer = await fetch(service.url + path)
      assert.equal(answer.status, 200, path)
      assert.ok((await answer.text()).length > 100, path)
    }
  })

  test('draws the pictures of link previews', async () => {
    const response = await fetch(`${service.url}/summary.png`)
    const { width, height } = decodePng(await response.bytes())
    assert.deepEqual([width, height], [1200, 630])
    assert.ok(packed.whole.files.includes('dist/src/web/fonts/OFL.txt'))
  })

  test('runs the demonstration', async () => {
    const demo = await project.listen('demo', '--data', 'demo')
    const { simulated } = (await (await fetch(`${demo.url}/api/v1/status`)).json()) as { simulated?: boolean }
    assert.equal(simulated, true)
    assert.equal(await demo.end(), 0)
  })

  test('refuses an older Node in one line', async () => {
    const bin = join(project.folder, 'node_modules', '.bin', 'daybook')
    const { code, stdout, stderr } = await project.run(...OLDER, bin, 'demo')
    assert.match(stdout + stderr, /^daybook: Node 24\.15 or newer is required; this is Node \d+\.\d+\.\d+\n$/)
    assert.equal(code, 1)
  })

  test('are released with checksums, which the command of SECURITY.md checks', () => {
    const check = blocksOf(textOf('SECURITY.md')).find(({ text }) => text.includes('sha256sum'))
    const told = execFileSync('bash', ['-euc', check?.text ?? ''], { cwd: packed.released, encoding: 'utf8' })
    const files = readdirSync(packed.released).filter((file) => file !== 'SHA256SUMS')
    assert.deepEqual(
      told.trim().split('\n'),
      files.toSorted().map((file) => `${file}: OK`),
    )
    assert.equal(files.length, 4)
  })

  test('are released with a bill of materials of what the package installs, and with the section of the changelog', () => {
    const read = (ending: string): string =>
      readFileSync(join(packed.released, `daybook-${packed.version}.${ending}`), 'utf8')
    const { bomFormat, components, metadata } = JSON.parse(read('cdx.json')) as Bill
    assert.equal(bomFormat, 'CycloneDX')
    assert.equal(metadata.component.purl, `pkg:npm/daybook@${packed.version}`)
    const locked: Readonly<Record<string, Locked>> = JSON.parse(textOf('package-lock.json')).packages
    const hashes = new Map(components.map(({ purl, hashes: [hash] }) => [purl, hash?.content]))
    for (const [path, { version, integrity, dev, optional, devOptional }] of Object.entries(locked)) {
      if (path === '' || dev || optional || devOptional) continue
      const name = path.replace(/^.*node_modules\//, '').replace('@', '%40')
      const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
      assert.equal(hashes.get(`pkg:npm/${name}@${version}`), hash, path)
    }
    assert.ok(!components.some(({ purl }) => purl.includes('typescript')))
    assert.ok(textOf('CHANGELOG.md').includes(`## [${packed.version}] - 2026-11-23\n\n${read('notes.md')}`))
  })

  test('are published with provenance only, from a commit with a tag, without other files and unreleased lines', async () => {
    const { clone, version } = packed
    const changelog = join(clone, 'CHANGELOG.md')
    const text = await readFile(changelog, 'utf8')
    await writeFile(changelog, text.replace('## [Unreleased]\n', '## [Unreleased]\n\n### Added\n'))
    const refused = await packed.release('--publish')
    assert.deepEqual(refused.stderr.trim().split('\n'), [
      'the tree has uncommitted files: commit or remove them',
      ' M CHANGELOG.md',
      `CHANGELOG.md has lines under [Unreleased]: move them to the section of ${version}`,
      `HEAD has no tag v${version}: run \`git tag v${version}\` on the commit to release`,
    ])
    assert.equal(refused.code, 1)
    await writeFile(changelog, text)
    execFileSync('git', ['-C', clone, 'tag', `v${version}`])
    const own = 'registry=http://127.0.0.1:1/\n//127.0.0.1:1/:_authToken=none\nfetch-retries=0\n'
    await writeFile(join(clone, '.npmrc'), own)
    const sums = (): readonly string[] =>
      readFileSync(join(packed.released, 'SHA256SUMS'), 'utf8').match(/^.*\.tgz$/gm) ?? []
    const first = sums()
    const { code, stderr } = await packed.release('--publish')
    assert.match(stderr, /provenance generation not supported/)
    assert.equal(code, 1)
    assert.deepEqual(sums(), first, 'a second build has the same bytes')
    assert.equal(first.length, 2)
  })
})
