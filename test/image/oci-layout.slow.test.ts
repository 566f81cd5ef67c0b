import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { addLayer, blobPath, type Layer, openLayout } from '../../package/image/oci-layout.ts'
import { skipUnless } from '../processes/test-needs.ts'

const SECONDS = 1_700_000_000

suite('a layer of the image', { skip: skipUnless(process.platform === 'linux', 'GNU tar') }, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'daybook-layer-'))
  const layout = join(scratch, 'oci')
  after(() => rmSync(scratch, { recursive: true, force: true }))

  /** Adds a layer of two files, written in an order, with a mode and a moment. */
  async function add(name: string, files: readonly string[], mode: number, moment: number): Promise<Layer> {
    const folder = join(scratch, name)
    for (const path of ['data', 'bin']) mkdirSync(join(folder, path), { recursive: true })
    for (const path of files) {
      writeFileSync(join(folder, path), path)
      chmodSync(join(folder, path), mode)
      utimesSync(join(folder, path), moment, moment)
    }
    return addLayer(layout, folder, SECONDS, 6)
  }

  test('has the same digest whenever and wherever its files were written', async () => {
    await openLayout(layout)
    const first = await add('first', ['bin/a', 'bin/b'], 0o600, 1)
    const second = await add('second', ['bin/b', 'bin/a'], 0o664, 2)
    assert.deepEqual(second, first)
    assert.notEqual((await add('third', ['bin/a', 'bin/c'], 0o600, 1)).blob.digest, first.blob.digest)
    const programs = await add('fourth', ['bin/a', 'bin/b'], 0o700, 1)
    assert.notEqual(programs.blob.digest, first.blob.digest)
  })

  test('gives the volume to the user of the image and to the group 0, and the rest to root', async () => {
    const { blob } = await add('owned', ['bin/a'], 0o600, 1)
    const words = ['--list', '--verbose', '--numeric-owner', '--utc', '--gzip']
    const listed = execFileSync('tar', [...words, '--file', blobPath(layout, blob.digest)], {
      encoding: 'utf8',
    })
    const told = listed
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/))
    assert.deepEqual(told, [
      ['drwxr-xr-x', '0/0', '0', '2023-11-14', '22:13', 'bin/'],
      ['-rw-r--r--', '0/0', '5', '2023-11-14', '22:13', 'bin/a'],
      ['drwxrwxr-x', '65532/0', '0', '2023-11-14', '22:13', 'data/'],
    ])
  })
})
