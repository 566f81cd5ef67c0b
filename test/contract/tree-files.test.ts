import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { parseEntries, parseEntry, tilesOf } from '../tlog/bundle.ts'
import { openReceipt } from '../tlog/open-receipt.ts'
import type { ArchiveManifest } from '../../src/protocol/endpoints/file-endpoints.ts'
import { openCheckpoint, type TrustedLog } from '../../src/tlog/checkpoint.ts'
import type { Hash } from '../../src/tlog/hash.ts'
import { parseReceipt } from '../../src/tlog/receipt.ts'
import { formatBundlePath, formatTilePath } from '../../src/tlog/tile.ts'
import { sharedSample, startImportedNode } from '../sample/imported-node.ts'
import { bytesOf, checkpointOf, entriesOf, getOf, problemOf, trustedBy } from '../stage/public-tree.ts'
import type { Service } from '../stage/service.ts'
import { grow, hasher, naiveRoot, verifyEd25519 } from '../tlog/example.ts'
import { publishTo } from '../stage/node-process.ts'
import { openFolder } from '../story/damaged-log.ts'

// These tests use public answers and the pure functions of `tlog`, and nothing of the store.

const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATE = 'public, max-age=0, must-revalidate'

suite('the files of the tree', () => {
  let service: Service
  let log: TrustedLog
  let entries: readonly Uint8Array[] = []
  let leaves: readonly Hash[] = []
  const get = getOf(() => service)
  before(async () => {
    service = await sharedSample()
    log = await trustedBy(get)
    entries = await entriesOf(get)
    leaves = entries.map((entry) => hasher.leaf(entry))
  })

  test('are those of the lines that /events shows, with their details', async () => {
    const { checkpoint } = await checkpointOf(get, log)
    assert.equal(checkpoint.size, leaves.length)
    assert.deepEqual(Buffer.from(checkpoint.root), Buffer.from(naiveRoot(leaves)))
    const grown = grow(leaves)
    const tiles = [...tilesOf(leaves.length)]
    assert.ok(tiles.length > 9, 'there are full tiles, partial ones, and two levels')
    for (const tile of tiles) {
      const bytes = await bytesOf(get, `/log/${formatTilePath(tile)}`)
      assert.ok(bytes.equals(grown.read(tile)), formatTilePath(tile))
    }
  })

  test('have bundles of the exact hashed bytes', async () => {
    for (const tile of tilesOf(leaves.length)) {
      if (tile.level > 0) continue
      const found = parseEntries(await bytesOf(get, `/log/${formatBundlePath(tile)}`), tile.width)
      const first = tile.index * 256
      assert.deepEqual(found?.map(parseEntry), entries.slice(first, first + tile.width).map(parseEntry))
    }
  })

  test('are signed by a listed key at every size, and grow with the log', async () => {
    await using own = await startImportedNode({ chain: 'opaque' })
    const ask = getOf(() => own)
    const trusted = await trustedBy(ask)
    const { checkpoint: empty } = await checkpointOf(ask, trusted)
    assert.deepEqual([empty.size, Buffer.from(empty.root)], [0, Buffer.from(hasher.empty)])
    for (const path of ['/log/tile/0/000', '/log/tile/0/000.p/1', '/log/tile/entries/000.p/1']) {
      assert.equal((await ask(path)).status, 404, path)
    }
    assert.equal((await ask('/log/proof/1')).status, 404)

    for (const size of [1, 2, 3]) {
      const price = { ref: `price-${size}`, type: 'price', kind: 'usd', details: { price: '0.012345678901' } }
      assert.equal((await publishTo(own, [price])).status, 200)
      const { checkpoint } = await checkpointOf(ask, trusted)
      assert.equal(checkpoint.size, size)
      const grown = (await entriesOf(ask)).map((entry) => hasher.leaf(entry))
      assert.deepEqual(Buffer.from(checkpoint.root), Buffer.from(naiveRoot(grown)))
    }
    // Every partial tile of a signed tree remains.
    for (const width of [1, 2, 3]) {
      assert.equal((await bytesOf(ask, `/log/tile/0/000.p/${width}`)).length, 32 * width)
    }
  })

  test('prove any event with a receipt', async () => {
    for (const seq of [1, 2, 3, 64, 255, 256, 257, 512, 1024, 2047, leaves.length - 1, leaves.length]) {
      const receipt = parseReceipt(await bytesOf(get, `/log/proof/${seq}`))
      assert.ok(receipt.ok)
      const leaf = leaves[seq - 1] ?? assert.fail()
      const proved = await openReceipt(hasher, receipt.value, leaf, log, verifyEd25519)
      assert.ok(proved.ok && proved.value.index === seq - 1)
      const other = leaves[seq % leaves.length] ?? assert.fail()
      assert.ok(!(await openReceipt(hasher, receipt.value, other, log, verifyEd25519)).ok)
    }
  })

  test('never change, except for the newest', async () => {
    const width = leaves.length % 256
    const index = String((leaves.length - width) / 256).padStart(3, '0')
    for (const path of [
      '/0/000',
      `/0/${index}.p/${width}`,
      `/0/${index}.p/1`,
      '/0/000.p/255',
      '/entries/000',
    ]) {
      const response = await get(`/log/tile${path}`)
      assert.equal(response.status, 200, path)
      assert.equal(response.headers.get('content-type'), 'application/octet-stream')
      assert.equal(response.headers.get('cache-control'), IMMUTABLE)
      assert.equal(response.headers.get('daybook-seq'), null)
      assert.equal(response.headers.get('access-control-allow-origin'), '*')
      await response.arrayBuffer()
      const etag = response.headers.get('etag') ?? ''
      assert.equal((await get(`/log/tile${path}`, { 'if-none-match': etag })).status, 304)
    }
    for (const path of ['/log/checkpoint', '/log/keys', '/log/proof/7']) {
      const response = await get(path)
      assert.equal(response.headers.get('cache-control'), REVALIDATE)
      assert.equal(response.headers.get('daybook-seq'), String(leaves.length))
      await response.arrayBuffer()
      const etag = response.headers.get('etag') ?? ''
      const again = await get(path, { 'if-none-match': etag })
      assert.deepEqual([again.status, again.headers.get('etag')], [304, etag])
    }
  })

  test('are compressed if they are bundles, and plain if they are tiles', async () => {
    const codings = { 'accept-encoding': 'gzip' }
    const coded = await get('/log/tile/entries/000', codings)
    assert.equal(coded.headers.get('content-encoding'), 'gzip')
    const hashes = await get('/log/tile/0/000', codings)
    assert.deepEqual(
      [hashes.headers.get('content-encoding'), hashes.headers.get('content-length')],
      [null, '8192'],
    )
    assert.match(hashes.headers.get('etag') ?? '', /^"/)
    await Promise.all([coded.arrayBuffer(), hashes.arrayBuffer()])
  })

  for (const path of [
    '/log',
    '/log/',
    '/log/tile',
    '/log/tile/0/',
    '/log/tile/0/0',
    '/log/tile/64/000',
    '/log/tile/0/x001/067',
    '/log/tile/0/x999/x999/x999/x999/x999/999',
    '/log/tile/0/000.p/0',
    '/log/tile/0/000.p/256',
    '/log/tile/data/000',
    '/log/tile/entries',
    '/log/tile/entries/999',
    '/log/tile/0/%30%30%30',
  ]) {
    test(`do not exist at ${path}`, async () => {
      const response = await get(path)
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.equal(response.headers.get('access-control-allow-origin'), '*')
      assert.equal(await problemOf(response), 'not-found')
    })
  }

  for (const seq of ['0', '01', '9007199254740991', '9007199254740992', 'x', '-1', '1.0']) {
    test(`have no receipt of event ${seq}`, async () => {
      const response = await get(`/log/proof/${seq}`, { 'if-none-match': '*' })
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.equal(await problemOf(response), 'event-not-found')
    })
  }

  test('agree with the archive on each month and on the digest of each file', async () => {
    const sums = (await bytesOf(get, '/archive/SHA256SUMS')).toString()
    using folder = openFolder()
    for (const [, digest = '', name = ''] of sums.matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm)) {
      const response = await get(`/archive/${name}`)
      const file = Buffer.from(await response.arrayBuffer())
      const found = createHash('sha256').update(file).digest()
      assert.equal(found.toString('hex'), digest)
      assert.equal(response.headers.get('repr-digest'), `sha-256=:${found.toString('base64')}:`)
      writeFileSync(join(folder.path, name), file)
    }
    writeFileSync(join(folder.path, 'SHA256SUMS'), sums)
    const check = spawnSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: folder.path })
    if (check.error === undefined) assert.equal(check.status, 0, check.stdout.toString())
    const month = /(\d{4}-\d{2})\.jsonl\.gz/.exec(sums)?.[1] ?? assert.fail()
    const manifest = JSON.parse((await bytesOf(get, `/archive/${month}.json`)).toString()) as ArchiveManifest
    const opened = await openCheckpoint(Buffer.from(manifest.checkpoint), log, verifyEd25519)
    assert.ok(opened.ok && opened.value.checkpoint.size === manifest.size)
    assert.equal(Buffer.from(opened.value.checkpoint.root).toString('base64'), manifest.root)
    assert.deepEqual(
      Buffer.from(manifest.root, 'base64'),
      Buffer.from(naiveRoot(leaves.slice(0, manifest.size))),
    )
  })
})
