import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
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
import { skipWithout } from '../processes/test-needs.ts'
import { type NpmRegistry, openNpmRegistry } from './npm-registry.ts'

const UPLOAD = pathToFileURL(join(ROOT, 'package', 'release', 'upload.ts')).href
const NAME = 'daybook-probe'
const OCI = 'application/vnd.oci.image'

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

suite('an upload', () => {
  let registry: NpmRegistry
  before(async () => {
    registry = await openNpmRegistry()
    writeFileSync(join(folder, 'npmrc'), registry.npmrc)
  })
  after(() => registry[Symbol.dispose]())

  /** Uploads in a program of its own, because the registry runs in this one. */
  async function upload(call: string): Promise<string> {
    const script = `import { uploadImage, uploadPackage } from '${UPLOAD}'
try { ${call} } catch (error) { console.log(error.message) }`
    const npm = { NPM_CONFIG_USERCONFIG: join(folder, 'npmrc'), npm_config_cache: join(folder, 'cache') }
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, ...npm },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return text(child.stdout)
  }

  test('publishes a package once, and refuses other bytes of a version', async () => {
    const bytes = join(folder, '1.2.0.tgz')
    const right = pack(bytes, { 'package.json': JSON.stringify({ name: NAME, version: '1.2.0' }) })
    const publish = (integrity: string): Promise<string> =>
      upload(
        `uploadPackage('${folder}', '${NAME}', '1.2.0', { file: '1.2.0.tgz', integrity: '${integrity}' })`,
      )
    assert.equal(await publish(right), '')
    assert.equal(await publish(right), '')
    assert.equal(registry.published.length, 1, 'it is published once')
    const [sent] = registry.published
    assert.deepEqual(sent?.['dist-tags'], { latest: '1.2.0' })
    assert.equal(sent?.versions['1.2.0']?.dist.integrity, right)
    const attached = Object.values(sent?._attachments ?? {}).map(({ data }) => data)
    assert.deepEqual(attached, [readFileSync(bytes).toString('base64')])
    const refusal = 'the registry has another daybook-probe 1.2.0: raise the version in package.json\n'
    assert.equal(await publish('sha512-other'), refusal)
    assert.equal(registry.published.length, 1)
  })

  test('copies an image of every architecture with its digest', { skip: skipWithout('skopeo') }, async () => {
    const layout = join(folder, 'layout')
    mkdirSync(join(layout, 'blobs', 'sha256'), { recursive: true })
    const blob = (kind: string, value: object): object => {
      const bytes = JSON.stringify(value)
      const hash = createHash('sha256').update(bytes).digest('hex')
      writeFileSync(join(layout, 'blobs', 'sha256', hash), bytes)
      return { mediaType: `${OCI}.${kind}.v1+json`, digest: `sha256:${hash}`, size: bytes.length }
    }
    const manifests = ['amd64', 'arm64'].map((architecture) => {
      const platform = { os: 'linux', architecture }
      const config = blob('config', { ...platform, rootfs: { type: 'layers', diff_ids: [] } })
      const mediaType = `${OCI}.manifest.v1+json`
      return { ...blob('manifest', { schemaVersion: 2, mediaType, config, layers: [] }), platform }
    })
    const index = blob('index', { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests })
    writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
    writeFileSync(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [index] }))
    const archive = join(folder, 'image.oci.tar')
    execFileSync('tar', ['-cf', archive, '-C', layout, '.'])
    const copied = join(folder, 'copied')
    assert.equal(await upload(`uploadImage('${archive}', 'oci:${copied}', '1.2.0')`), '')
    const { manifests: named } = JSON.parse(readFileSync(join(copied, 'index.json'), 'utf8'))
    const annotations = { 'org.opencontainers.image.ref.name': '1.2.0' }
    assert.deepEqual(named, [{ ...index, annotations }])
  })
})
