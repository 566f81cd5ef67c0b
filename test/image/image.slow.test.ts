import assert from 'node:assert/strict'
import { globSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../processes/free-ports.ts'
import { skipUnless, skipWithout } from '../processes/test-needs.ts'
import { buildImage, type Image } from './image-stage.ts'

/** Most bytes of the files of an image. */
const IMAGE_BYTES_MAX = 190e6
/** Building takes two minutes, and longer beside other tests. */
const BUILD_MS_MAX = 900_000
const READY_MS_MAX = 30_000
const POLL_MS = 50
const PROGRAM_FOLDER = 'opt/daybook'
/** An import of an npm package, in JavaScript that the compiler made. */
const IMPORTED = /(?:^import .*?from |^} from |import\()['"]((?!node:)[@a-z][^'"]*)['"]/gm
const NODE = '/usr/local/bin/node'

suite(
  'the container image',
  {
    skip:
      skipWithout('bwrap', 'buildah', 'mmdebstrap', 'setpriv') ||
      skipUnless(process.getuid?.() === 0, 'root'),
  },
  () => {
    let image: Image
    before(
      async () => {
        image = await buildImage()
      },
      { timeout: BUILD_MS_MAX },
    )
    after(() => image?.[Symbol.asyncDispose]())

    /** Paths of the ordinary files of the image. */
    const files = (): readonly string[] =>
      globSync('**', { cwd: image.root }).filter((path) => lstatSync(join(image.root, path)).isFile())

    test('has at most 190 MB', () => {
      const bytes = files().reduce((sum, path) => sum + lstatSync(join(image.root, path)).size, 0)
      assert.ok(bytes <= IMAGE_BYTES_MAX, `${bytes} bytes`)
    })

    test('says its user, its volume, its ports, its command, its health check and its commit', () => {
      const { Labels, ...settings } = image.settings
      assert.equal(Object(Labels)['org.opencontainers.image.revision'], 'a-commit')
      const { User, ExposedPorts, Volumes, Entrypoint, Cmd, StopSignal, Healthcheck } = settings
      assert.deepEqual(
        { User, ExposedPorts, Volumes, Entrypoint, Cmd, StopSignal, Healthcheck },
        {
          User: '65532:65532',
          ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
          Volumes: { '/data': {} },
          Entrypoint: ['/usr/local/bin/daybook'],
          Cmd: ['serve'],
          StopSignal: 'SIGTERM',
          Healthcheck: {
            Test: ['CMD', '/usr/local/bin/daybook-ready'],
            Interval: 30e9,
            Timeout: 5e9,
            StartPeriod: 60e9,
          },
        },
      )
      const { uid, gid, mode } = lstatSync(join(image.root, 'data'))
      assert.deepEqual([uid, gid, mode & 0o777], [65_532, 0, 0o775])
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
      const run =
        /^[^.]+\/(?:dist\/.+\.(?:js|json|css|ttf|woff2|txt)|package\/[a-z]+\.cjs|package\.json|LICENSE)$/
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
      const [port, publishUrl] = await freePorts(2)
      const environment = [`DAYBOOK_PORT=${port}`, `DAYBOOK_PUBLISH_PORT=${publishUrl}`]
      const words = ['serve', '--origin', 'data.example.org/book', '--drain', '1']
      const running = image.run(volume, words, { environment })
      await untilReady(`http://127.0.0.1:${publishUrl}/readyz`, running.ended)

      const token = readFileSync(join(volume, 'log', 'publish-token'), 'utf8').trim()
      const published = await fetch(`http://127.0.0.1:${publishUrl}/publish`, {
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
  },
)

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
