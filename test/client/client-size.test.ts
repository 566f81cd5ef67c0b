import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild-wasm'
import { ROOT } from '../stage/places.ts'

/** What sharing a connection over tabs may add to it. */
const TABS_GZIP_BYTES_MAX: number = 1_400

/** What a page may spend on the client, compressed; without what verifies, which is another entry. */
const GZIP_BYTES_MAX: number = 6 * 1024

type Bundle = Readonly<{ gzipBytes: number; inputs: readonly string[] }>

/** A file of the client and all that it needs, as a page loads it. */
async function bundleOf(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
    write: false,
  })
  const [output] = outputFiles
  assert.ok(output !== undefined)
  return { gzipBytes: gzipSync(output.contents, { level: 9 }).length, inputs: Object.keys(metafile.inputs) }
}

suite('the client', () => {
  test('is at most 6 KiB for a page, compressed', async () => {
    const { gzipBytes } = await bundleOf('src/client/index.ts')
    assert.ok(gzipBytes <= GZIP_BYTES_MAX, `${gzipBytes} bytes`)
  })

  test('shares a connection over tabs for little more', async () => {
    const [alone, tabs] = [
      await bundleOf('src/client/index.ts'),
      await bundleOf('test/client/client-entry.ts'),
    ]
    const moreBytes = tabs.gzipBytes - alone.gzipBytes
    assert.ok(moreBytes <= TABS_GZIP_BYTES_MAX, `${moreBytes} bytes`)
    assert.ok(!alone.inputs.some((path) => path.includes('tab')), 'what serves has no tabs')
  })

  test('is made of nothing but itself and the words of the protocol', async () => {
    const { inputs } = await bundleOf('src/client/index.ts')
    assert.deepEqual(
      inputs.filter((path) => !/^src\/(?:client|protocol)\//.test(path)),
      [],
    )
  })
})
