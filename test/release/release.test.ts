import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, suite, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { firstDifference } from '../../package/release/comparison.ts'
import { refusalsOfChangelog, sourceOf } from '../../package/release/preconditions.ts'
import { passCi } from '../../package/release/upload.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

const UPLOAD = pathToFileURL(join(ROOT, 'package', 'release', 'upload.ts')).href
const NAME = 'daybook-probe'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daybook-release-test-'))
})
after(() => rm(folder, { recursive: true, force: true }))

/** Packs one file as npm packages are packed, and returns the integrity. */
function pack(path: string, modules: Readonly<Record<string, string>>, day = 0): string {
  const from = join(folder, 'files')
  mkdirSync(join(from, 'package'), { recursive: true })
  for (const [name, content] of Object.entries(modules)) {
    writeFileSync(join(from, 'package', name), content)
    utimesSync(join(from, 'package', name), 86_400 * day, 86_400 * day)
  }
  const names = Object.keys(modules).map((name) => `package/${name}`)
  execFileSync('tar', ['--format=ustar', '-czf', path, '-C', from, ...names])
  return `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
}

suite('a release', () => {
  test('needs a dated section of its version in the changelog, and no lines without a version', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string }
    assert.deepEqual(refusalsOfChangelog(textOf('CHANGELOG.md'), version), [])
    const section = 'CHANGELOG.md has no section `## [1.2.0] - YYYY-MM-DD`: write it'
    const lines = 'CHANGELOG.md has lines under [Unreleased]: move them to the section of 1.2.0'
    for (const [changelog, expected] of [
      ['# Changelog\n\n## [1.2.0] - 2027-01-31\n\n- A line\n', []],
      ['# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2027-01-31\n', []],
      ['# Changelog\n\n## [1.2.0]\n\n- A line\n', [section]],
      ['# Changelog\n\n## [1.20.0] - 2027-01-31\n', [section]],
      ['# Changelog\n\n## [Unreleased]\n\n- A line\n', [section, lines]],
      ['# Changelog\n\n## [Unreleased]\n\n- A line\n\n## [1.2.0] - 2027-01-31\n', [lines]],
    ] as const) {
      assert.deepEqual(refusalsOfChangelog(changelog, '1.2.0'), expected)
    }
  })

  test('of two builds that differ names the first file that differs, also inside a package', () => {
    const [one, other] = ['one', 'other'].map((name) => join(folder, name)) as [string, string]
    const write = (path: string, second: string, day: number): void => {
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, 'b.json'), '{}')
      pack(join(path, 'a.tgz'), { 'x.js': 'x', 'y.js': second }, day)
    }
    write(one, 'y', 0)
    write(other, 'z', 0)
    assert.equal(firstDifference(one, other), 'package/y.js in a.tgz')
    write(other, 'y', 1)
    assert.equal(firstDifference(one, other), 'package/x.js in a.tgz', 'a moment differs')
    write(other, 'y', 0)
    assert.equal(firstDifference(one, other), null)
    writeFileSync(join(other, 'b.json'), '[]')
    assert.equal(firstDifference(one, other), 'b.json')
    writeFileSync(join(other, 'a.cdx.json'), '')
    assert.equal(firstDifference(one, other), 'a.cdx.json, which only one build has')
  })

  test('is uploaded only when CI passes on a clone of its commit', () => {
    const root = join(folder, 'repository')
    const git = (...words: readonly string[]): void => {
      const author = ['-c', 'user.name=Daybook', '-c', 'user.email=daybook@example.org']
      execFileSync('git', [...author, ...words], { cwd: root })
    }
    mkdirSync(join(root, '.ci'), { recursive: true })
    git('init', '--quiet')
    writeFileSync(join(root, 'package.json'), '{"version":"1.2.0"}')
    writeFileSync(join(root, '.gitignore'), 'kept\n')
    const commit = (script: string): ReturnType<typeof sourceOf> => {
      writeFileSync(join(root, '.ci', 'run'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      git('add', '--all')
      git('commit', '--quiet', '--message', 'Change CI')
      return sourceOf(root)
    }
    writeFileSync(join(root, 'kept'), '')
    passCi(commit('test ! -e kept && test -e package.json'), join(folder, 'ci'))
    assert.throws(
      () => passCi(commit('exit 3'), join(folder, 'ci')),
      /^Error: CI did not pass: .+ Nothing was uploaded/,
    )
  })
})

suite('the upload of a package', () => {
  /** A registry with one package: what was sent, and the integrity that it names. */
  const registry = createServer((request, response) => {
    text(request).then((body) => {
      if (request.method === 'PUT') received.push(JSON.parse(body))
      const [last] = received.slice(-1)
      response.writeHead(last === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(last ?? { error: 'not_found' }))
    }, assert.ifError)
  })
  type Sent = Readonly<{
    'dist-tags': Readonly<Record<string, string>>
    versions: Readonly<Record<string, { dist: { integrity: string } }>>
    _attachments: Readonly<Record<string, { data: string }>>
  }>
  const received: Sent[] = []
  let userconfig = ''
  before(async () => {
    await once(registry.listen(0, '127.0.0.1'), 'listening')
    const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`
    userconfig = join(folder, 'npmrc')
    writeFileSync(userconfig, `registry=http://${host}/\n//${host}/:_authToken=none\nupdate-notifier=false\n`)
  })
  after(() => registry.close())

  /** Uploads in a thread of its own, because the registry runs in this one. */
  async function upload(version: string, integrity: string): Promise<string> {
    const packed = JSON.stringify({ file: `${version}.tgz`, integrity })
    const script = `import { uploadPackage } from '${UPLOAD}'
try { uploadPackage('${folder}', '${NAME}', '${version}', ${packed}) } catch (error) { console.log(error.message) }`
    const env = { ...process.env, NPM_CONFIG_USERCONFIG: userconfig, npm_config_cache: join(folder, 'cache') }
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return text(child.stdout)
  }

  test('publishes its bytes once, and refuses other bytes of a version', async () => {
    const bytes = join(folder, '1.2.0.tgz')
    const integrity = pack(bytes, { 'package.json': JSON.stringify({ name: NAME, version: '1.2.0' }) })
    assert.equal(await upload('1.2.0', integrity), '')
    assert.equal(await upload('1.2.0', integrity), '')
    assert.equal(received.length, 1, 'it is published once')
    const [sent] = received
    assert.deepEqual(sent?.['dist-tags'], { latest: '1.2.0' })
    assert.equal(sent?.versions['1.2.0']?.dist.integrity, integrity)
    const attached = Object.values(sent?._attachments ?? {}).map(({ data }) => data)
    assert.deepEqual(attached, [readFileSync(bytes).toString('base64')])
    assert.match(
      await upload('1.2.0', 'sha512-other'),
      /^the registry has another daybook-probe 1\.2\.0: raise the version in package\.json$/m,
    )
    assert.equal(received.length, 1)
  })
})
