import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild-wasm'
import { ROOT } from '../stage/places.ts'

/** Compressed bytes that sharing a connection between tabs may add. */
const TABS_GZIP_BYTES_MAX: number = 1_400

/** Compressed bytes of the client in a page, without sums and the verifier, which are other entries. */
const GZIP_BYTES_MAX: number = 6.75 * 1024

type Bundle = Readonly<{ gzipBytes: number; inputs: readonly string[] }>

/** A file of the client bundled with its imports, as a page loads it. */
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
  test('has at most 6.75 KiB in a page, compressed', async () => {
    const { gzipBytes } = await bundleOf('src/client/index.ts')
    assert.ok(gzipBytes <= GZIP_BYTES_MAX, `${gzipBytes} bytes`)
  })

  test('shares a connection between tabs for at most 1,400 bytes more', async () => {
    const [alone, tabs] = [
      await bundleOf('src/client/index.ts'),
      await bundleOf('test/client/client-entry.ts'),
    ]
    const moreBytes = tabs.gzipBytes - alone.gzipBytes
    assert.ok(moreBytes <= TABS_GZIP_BYTES_MAX, `${moreBytes} bytes`)
    assert.ok(!alone.inputs.some((path) => path.includes('tab')), 'the main entry has no code for tabs')
  })

  test('imports only its own room and the protocol', async () => {
    const { inputs } = await bundleOf('src/client/index.ts')
    assert.deepEqual(
      inputs.filter((path) => !/^src\/(?:client|protocol)\//.test(path)),
      [],
    )
  })
})
