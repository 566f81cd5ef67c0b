import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { versionOf } from '../../package/image/facts.ts'
import { lockedRuntime } from '../../package/image/runtime.ts'
import { outputOf } from '../../package/release/programs.ts'
import { pathOf, skipUnless, skipWithout } from '../processes/test-needs.ts'
import { buildImage, documentedBlocks } from './image-stage.ts'

/** Only this campaign needs it. */
const EMULATOR = 'qemu-aarch64-static'
/** Architectures that a long campaign builds twice, with `DAYBOOK_CAMPAIGN` only: it takes a minute and downloads 50 MB. */
const BUILT: readonly ('amd64' | 'arm64')[] =
  process.env['DAYBOOK_CAMPAIGN'] === undefined ? [] : ['amd64', 'arm64']

if (BUILT.length > 0) {
  suite(
    'the images of both architectures',
    { skip: skipUnless(pathOf(EMULATOR) !== undefined, EMULATOR) || skipWithout('apt-get') },
    () => {
      const folders: string[] = []
      after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

      test('have the same digests in two builds, and the one for arm64 runs', async () => {
        const digests: (readonly string[])[] = []
        for (const umask of [0o022, 0o077]) {
          const folder = await mkdtemp(join(tmpdir(), 'daybook-images-'))
          folders.push(folder)
          const former = process.umask(umask)
          const { digest, images } = await buildImage(BUILT, folder)
          process.umask(former)
          digests.push([digest, ...images.map((image) => image.digest)])
        }
        assert.deepEqual(digests[1], digests[0])

        const [unpack] = documentedBlocks()
        const [folder = ''] = folders
        outputOf('bash', ['-euc', unpack.replaceAll('amd64', 'arm64')], { cwd: folder })
        const root = join(folder, 'root')
        const run = (...words: readonly string[]): string =>
          outputOf('qemu-aarch64-static', ['-L', root, join(root, 'usr/local/bin/node'), ...words], {
            cwd: root,
          })
        assert.equal(run('--version'), `v${lockedRuntime('arm64').version}\n`)
        assert.equal(run(join(root, 'opt/daybook/package/daybook.cjs'), '--version'), `${versionOf()}\n`)
      })
    },
  )
}
