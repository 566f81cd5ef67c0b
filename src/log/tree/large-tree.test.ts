import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { parseEntries, tilesOf } from '../../../test/tlog/bundle.ts'
import { openReceipt } from '../../../test/tlog/open-receipt.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { exampleLine, grow, hasher, verifyEd25519 } from '../../../test/tlog/example.ts'
import { seqOf } from '../../protocol/seq.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { parseReceipt } from '../../tlog/receipt.ts'
import { formatTilePath } from '../../tlog/tile.ts'
import { openReader } from '../open-reader.ts'
import { changeKeys } from './ready-log.ts'
import { verifierKeyOf } from './signer.ts'
import { createStore, openForWriting, storePath } from '../store/store.ts'

const ORIGIN = 'daybook.example/log'
/** Events of the worked example, whose tree has three levels of tiles. */
const EVENTS = 70_000
const ROOT = 'bMVMTlAZzy7K4+/AXfpzLc0t0F5L7o6u9BVFzxjSc1Q='

const trusted = { origin: ORIGIN, keys: [verifierKeyOf(ORIGIN, TEST_KEY.publicKey)] }
const entryOf = (seq: number): Uint8Array => formatEntry(exampleLine(seq - 1), null)

/** Writes the events of the example, without books. */
function fill(path: string, leaves: readonly Uint8Array[], levels: readonly (readonly Uint8Array[])[]): void {
  const db = openForWriting(path)
  const event = db.prepare(
    'INSERT INTO events (seq, at, code, nonzero, line, leaf) VALUES (?, ?, 1, 1, ?, ?)',
  )
  const above = db.prepare('INSERT INTO tree_hashes (level, n, hash) VALUES (?, ?, ?)')
  db.exec('BEGIN')
  for (const [index, leaf] of leaves.entries()) event.run(index + 1, index, exampleLine(index), leaf)
  for (const [level, hashes] of levels.entries()) {
    if (level > 0) for (const [n, hash] of hashes.entries()) above.run(level, n, hash)
  }
  db.exec('COMMIT')
  changeKeys(db, { keys: [TEST_KEY], acceptNewKey: false })
  db.close()
}

suite('the stored tree of 70,000 events', () => {
  test('equals that of the worked example in its root, its 277 tiles and its receipts', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-large-tree-'))
    createStore(storePath(directory), { origin: ORIGIN, chain: 'opaque', simulated: false })
    const leaves = Array.from({ length: EVENTS }, (_, index) => hasher.leaf(entryOf(index + 1)))
    const { levels, read } = grow(leaves)
    fill(storePath(directory), leaves, levels)
    const log = openReader(directory, null)
    try {
      assert.ok(log.snapshot(({ tree }) => tree.checkpoint()).startsWith(`${ORIGIN}\n${EVENTS}\n${ROOT}\n\n`))
      const tiles = [...tilesOf(EVENTS)]
      assert.equal(tiles.length, 277)
      for (const tile of tiles) {
        const found = log.snapshot(({ tree }) => tree.tile(formatTilePath(tile))) ?? assert.fail()
        assert.ok(Buffer.from(found).equals(read(tile)), formatTilePath(tile))
      }
      const last = log.snapshot(({ tree }) => tree.entries('tile/entries/273.p/112')) ?? assert.fail()
      const entries = parseEntries(last, 112) ?? assert.fail()
      assert.deepEqual(Buffer.from(entries[111] ?? assert.fail()), Buffer.from(entryOf(EVENTS)))
      for (const seq of [1, 256, 257, 34_568, 65_535, 65_536, 65_537, 69_888, 69_889, EVENTS]) {
        const receipt = parseReceipt(Buffer.from(log.snapshot(({ tree }) => tree.receipt(seqOf(seq))) ?? ''))
        assert.ok(receipt.ok)
        const proved = await openReceipt(
          hasher,
          receipt.value,
          hasher.leaf(entryOf(seq)),
          trusted,
          verifyEd25519,
        )
        assert.ok(proved.ok && proved.value.checkpoint.size === EVENTS, String(seq))
      }
    } finally {
      log.close()
      rmSync(directory, { recursive: true })
    }
  })
})
