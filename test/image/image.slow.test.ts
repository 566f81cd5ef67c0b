import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROGRAM_FOLDER, SETTINGS, versionOf } from '../../package/image/facts.ts'
import { lockedDependencies } from '../../package/image/program.ts'
import { lockedRuntime } from '../../package/image/runtime.ts'
import { defaultKeyFile } from '../../src/command/operator/signing-key-file.ts'
import { unpackKept } from '../books/kept-store.ts'
import { freePorts } from '../processes/free-ports.ts'
import { textOf } from '../stage/document.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { documentedBlocks, type Image, openImage } from './image-stage.ts'

/** Most compressed bytes of an image. */
const IMAGE_BYTES_MAX = 70e6
const READY_MS_MAX = 30_000
const POLL_MS = 50
/** An import of an npm package, in JavaScript that the compiler made. */
const IMPORTED = /(?:^import .*?from |^} from |import\()['"]((?!node:)[@a-z][^'"]*)['"]/gm
const NODE = '/usr/local/bin/node'

const NEEDED = ['skopeo', 'bwrap', 'setpriv', 'apt-get', 'dpkg-deb'] as const

suite('the container image', { skip: skipWithout(...NEEDED) }, () => {
  let image: Image
  before(async () => {
    image = await openImage()
  })
  after(() => image?.[Symbol.asyncDispose]())

  /** Paths of the ordinary files of the image. */
  const files = (): readonly string[] =>
    globSync('**', { cwd: image.root }).filter((path) => lstatSync(join(image.root, path)).isFile())

  test('has at most 70 MB compressed', () => {
    const [built] = image.built.images
    assert.ok(built !== undefined && built.bytes <= IMAGE_BYTES_MAX, `${built?.bytes} bytes`)
  })

  test('says its user, its volume, its ports, its command and its contents, in OCI and for Docker', () => {
    const [docker] = image.built.images
    const { Labels, ...settings } = configOf(`oci-archive:${image.built.archive}:${versionOf()}`)
    assert.deepEqual(settings, SETTINGS)
    assert.deepEqual(configOf(`docker-archive:${docker?.archive}:daybook:${versionOf()}`), {
      Labels,
      ...settings,
    })
    assert.equal(Labels['org.opencontainers.image.revision'], 'a-commit')
    assert.equal(Labels['daybook.node'], lockedRuntime('amd64').version)
    assert.match(Labels['daybook.debian.libc6'] ?? '', /^\d/)
    const listed = JSON.parse(readFileSync(join(image.root, 'usr/share/doc/daybook/contents.json'), 'utf8'))
    assert.deepEqual(listed.node, lockedRuntime('amd64'))
    assert.deepEqual(listed.npm, lockedDependencies())
  })

  test('runs without Docker as docs/container.md says for Docker', () => {
    const [, block] = documentedBlocks()
    const text = textOf('docs/container.md').replaceAll('\\\n ', '')
    const [, docker = ''] = /^docker run --detach .* daybook:\S+ (.*)$/m.exec(text) ?? []
    assert.equal(block.trim().split('/daybook ').at(-1), docker)
    const set = [...block.matchAll(/--setenv (\S+) (\S+)/g)].map(([, name, value]) => `${name}=${value}`)
    // Processes without a network of their own share the loopback of the machine.
    const expected = SETTINGS.Env.map((one) => one.replace(/(PUBLISH_HOST=).*/, '$1127.0.0.1'))
    assert.deepEqual(set, expected)
  })

  test('has no program but Node, Daybook and the health check', () => {
    const programs = files().filter((path) => /(?:^|\/)s?bin\//.test(path) && !path.startsWith('opt/'))
    assert.deepEqual(programs.toSorted(), [
      'usr/local/bin/daybook',
      'usr/local/bin/daybook-ready',
      'usr/local/bin/node',
    ])
    const special = files().filter((path) => (lstatSync(join(image.root, path)).mode & 0o6022) !== 0)
    assert.deepEqual(special, [])
  })

  test('has of Daybook only what it runs', () => {
    const own = files().filter(
      (path) => path.startsWith(`${PROGRAM_FOLDER}/`) && !path.includes('/node_modules/'),
    )
    const run = /^[^.]+\/(?:dist\/.+\.(?:js|json|css|ttf|txt)|package\/[a-z]+\.cjs|package\.json|LICENSE)$/
    assert.deepEqual(
      own.filter((path) => !run.test(path)),
      [],
    )
  })

  test('has the licences of what it contains', () => {
    const paths = new Set(files())
    const debian = ['base-files', 'gcc-12-base', 'libc6'].map((name) => `usr/share/doc/${name}/copyright`)
    for (const path of ['usr/share/doc/node/copyright', `${PROGRAM_FOLDER}/LICENSE`, ...debian])
      assert.ok(paths.has(path), path)
    const unlicensed = lockedDependencies().filter(
      ({ name, license }) =>
        license === 'NOASSERTION' && !paths.has(`opt/daybook/node_modules/${name}/LICENSE`),
    )
    assert.deepEqual(unlicensed, [])
  })

  test('loads each package that Daybook imports', async () => {
    const volume = await image.makeVolume('loads')
    const built = join(image.root, PROGRAM_FOLDER, 'dist/src')
    const imported = globSync('**/*.js', { cwd: built }).flatMap((path) =>
      [...readFileSync(join(built, path), 'utf8').matchAll(IMPORTED)].map(([, name = '']) => name),
    )
    const names = [...new Set(imported)]
    assert.ok(names.includes('pino') && names.includes('pg'), names.join())
    const script = `const { resolve } = require('node:module').createRequire('/${PROGRAM_FOLDER}/dist/src/main.js')
      Promise.all(${JSON.stringify(names)}.map((name) => import(resolve(name)))).then(({ length }) => console.log(length))`
    const { stdout, stderr } = await image.run(volume, ['-e', script], { program: NODE }).ended
    assert.equal(stdout, `${names.length}\n`, stderr)
  })

  test('serves, publishes and stops as a user whom it does not know', async () => {
    const volume = await image.makeVolume('served')
    const [port, door] = await freePorts(2)
    const environment = [`DAYBOOK_PORT=${port}`, `DAYBOOK_PUBLISH_PORT=${door}`]
    const words = ['serve', '--origin', 'data.example.org/book', '--drain', '1']
    const running = image.run(volume, words, { environment })
    await untilReady(`http://127.0.0.1:${door}/readyz`, running.ended)

    const token = readFileSync(join(volume, 'log', 'publish-token'), 'utf8').trim()
    const published = await fetch(`http://127.0.0.1:${door}/publish`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify([{ ref: 'first', type: 'treasury', kind: 'deposit', kots: '1' }]),
    })
    assert.equal(published.status, 200, await published.text())
    const picture = await fetch(`http://127.0.0.1:${port}/summary.png`)
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png'])
    const ready = { program: '/usr/local/bin/daybook-ready', environment }
    const readiness = await image.run(volume, [], ready).ended
    assert.equal(readiness.code, 0, readiness.stderr)
    const verified = await image.run(volume, ['verify', `http://127.0.0.1:${port}`]).ended
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)

    const stream = await fetch(`http://127.0.0.1:${port}/api/v1/stream?after=0`)
    running.stop()
    assert.match(await stream.text(), /"seq":1/)
    const { code, stderr } = await running.ended
    assert.equal(code, 0, stderr)
    assert.equal((await image.run(volume, [], ready).ended).code, 1)
    const checked = await image.run(volume, ['check']).ended
    assert.equal(checked.code, 0, checked.stderr)
  })

  test('refuses the volume itself as the data directory, and says which folder to give', async () => {
    const volume = await image.makeVolume('refused')
    const words = ['serve', '--data', '/data', '--origin', 'log.example/daybook']
    const { code, stderr } = await image.run(volume, words).ended
    assert.equal(code, 2)
    assert.match(stderr, /no key can be written to \/data\.key: .+ such as --data \/data\/log/)
  })

  test('upgrades a store of schema 12', async () => {
    using kept = unpackKept(12)
    const volume = await image.makeVolume('upgraded', {
      log: kept.data,
      'log.key': defaultKeyFile(kept.data),
    })
    const upgraded = await image.run(volume, ['upgrade']).ended
    assert.equal(upgraded.code, 0, upgraded.stderr)
    assert.match(upgraded.stdout, /from schema 12 to schema \d+/)
    const checked = await image.run(volume, ['check']).ended
    assert.equal(checked.code, 0, checked.stdout + checked.stderr)
  })
})

/** Settings of an image, as skopeo reads them. It reads no health check in an OCI image. */
function configOf(image: string): typeof SETTINGS & Readonly<{ Labels: Readonly<Record<string, string>> }> {
  const words = ['inspect', '--config', '--raw', image]
  return JSON.parse(execFileSync('skopeo', words, { encoding: 'utf8' })).config
}

/** Waits until a service is ready. Fails when its process ends before. */
async function untilReady(url: string, ended: Promise<Readonly<{ stderr: string }>>): Promise<void> {
  let early: string | undefined
  void ended.then(({ stderr }) => (early = stderr))
  for (const start = performance.now(); performance.now() - start < READY_MS_MAX; await sleep(POLL_MS)) {
    assert.equal(early, undefined, 'the process ended')
    const { ok } = await fetch(url).catch(() => ({ ok: false }))
    if (ok) return
  }
  assert.fail('the service was not ready in time')
}
