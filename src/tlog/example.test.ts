import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { tilesOf } from '../../test/tlog/bundle.ts'
import { openReceipt } from '../../test/tlog/open-receipt.ts'
import {
  exampleLine,
  grow,
  hasher,
  keyOfSeed,
  LOG_SEED,
  sha256,
  verifyEd25519,
} from '../../test/tlog/example.ts'
import { formatCheckpoint, openCheckpoint } from './checkpoint.ts'
import { cosignedMessage, parseCosignature } from './cosignature.ts'
import { formatEntries, formatEntry } from './entries.ts'
import { frontierAt, rootOf } from './frontier.ts'
import { consistencyProof, inclusionProof, isConsistent, isIncluded } from './proof.ts'
import { formatNote, formatVkey, parseNote, parseVkey, signText } from './note.ts'
import { openVouching } from './quorum.ts'
import { formatReceipt, parseReceipt } from './receipt.ts'
import { formatTile, formatTilePath } from './tile.ts'

const LINES = [
  '{"seq":1,"type":"payout","kind":"voter_share","at":"2025-10-09T08:53:20.000Z","atMs":1760000000000,"contestId":1,"kots":"0.000000000","tx":"5feceb66ffc86f38d952786c6d696c79"}',
  '{"seq":2,"type":"payout","kind":"voter_share","at":"2025-10-09T08:53:24.137Z","atMs":1760000004137,"contestId":1,"kots":"2919.000000001","tx":"6b86b273ff34fce19d6b804eff5a3f57"}',
  '{"seq":3,"type":"payout","kind":"voter_share","at":"2025-10-09T08:53:28.274Z","atMs":1760000008274,"contestId":1,"kots":"838.000000002","tx":"d4735e3a265e16eee03f59718b9b5d03"}',
]
const LEAVES = [
  '6e9db465c14fd509df67fd38aa73896febbe28033ca74ece93ba2f2b19b6b30a',
  '68869cce5f674fd0650d1bf52857a0d8015078f02479c7ce0150feed489e3d08',
  '4180b96cf9be83ee64df1668c8011a36aadc34df10a05a98c63f71306844e9fa',
]
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e9db465c14fd509df67fd38aa73896febbe28033ca74ece93ba2f2b19b6b30a',
  '077849174914c6090ddce60fd3b8fcf8af5716f65afe790a8446c93e29985f1c',
  'eb01740a49c17fc514b0f307486b807e2e6ddc2d7f246a970a212533bf96045c',
]
const LOG_VKEY = 'daybook.example/log+97d6dc36+AXB8iSJWOoTc2AtClEl7PkpRYp56Nw14QNHYwDexu4T3'
const WITNESS_VKEY = 'witness.example/w1+4eaadc88+BDnNi/qSDrXTotDET3PoIuWARCqvyDPUtDj5iX2Fb4/E'
const TEXT = 'daybook.example/log\n3\n6wF0CknBf8UUsPMHSGuAfi5t3C1/JGqXCiElM7+WBFw=\n'
const LOG_LINE =
  '— daybook.example/log l9bcNtNSBWqwob1LLKy9wzcMhNb8kldVLJnTy2PvF0gPRr1YTrTL758g2GhRxPYMkSib4sUOL43a4KnruKOg8zcNWQ4=\n'
const WITNESS_LINE =
  '— witness.example/w1 TqrciAAAAABo53gAVIzrHOGp+JGn1CAAKgdDOhMi6pk44AYep2pq9cTSvN24ktHQO5QnsqpjO8stRAHW1jauP2f1PEsaUgk/w2cGDQ==\n'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const of = (digits: string | undefined) => Buffer.from(digits ?? '', 'hex')
const log = {
  origin: 'daybook.example/log',
  keys: [parseVkey(sha256, LOG_VKEY) ?? assert.fail()],
}
const witness = parseVkey(sha256, WITNESS_VKEY) ?? assert.fail()
const leafOf = (index: number) => hasher.leaf(formatEntry(exampleLine(index), null))

suite('the worked example of three events', () => {
  const { read } = grow(LEAVES.map(of))

  test('has these lines and leaves', () => {
    assert.deepEqual([0, 1, 2].map(exampleLine), LINES)
    assert.deepEqual([0, 1, 2].map(leafOf).map(hex), LEAVES)
  })

  test('has these roots from zero to three events', () => {
    for (const [size, root] of ROOTS.entries()) {
      const leaves = LEAVES.slice(0, size).map(of)
      assert.equal(hex(rootOf(hasher, grow(leaves).frontier)), root)
    }
    assert.equal(Buffer.from(hasher.empty).toString('base64'), '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
    assert.equal(hex(hasher.node(of(LEAVES[0]), of(LEAVES[1]))), ROOTS[2])
  })

  test('has one tile of 96 bytes and a bundle of three entries', () => {
    assert.deepEqual([...tilesOf(3)].map(formatTilePath), ['tile/0/000.p/3'])
    assert.equal(hex(formatTile(LEAVES.map(of))), LEAVES.join(''))
    const bundle = formatEntries(LINES.map((line) => formatEntry(line, null)))
    const [one = '', two = '', three = ''] = LINES
    const expected = ['\0\xae', one, '\0\xb1', two, '\0\xb0', three].join('')
    assert.equal(Buffer.from(bundle).toString('latin1'), expected)
    assert.deepEqual([one.length, two.length, three.length], [174, 177, 176])
  })

  test('has this inclusion proof of index 1 and this consistency proof from 2 to 3', () => {
    const proof = inclusionProof(hasher, 1, 3, read) ?? []
    assert.deepEqual(proof.map(hex), [LEAVES[0], LEAVES[2]])
    assert.ok(isIncluded(hasher, { leaf: of(LEAVES[1]), index: 1, size: 3, root: of(ROOTS[3]) }, proof))
    const grown = consistencyProof(hasher, 2, 3, read) ?? []
    assert.deepEqual(grown.map(hex), [LEAVES[2]])
    const trees = [2, 3].map((size) => ({ size, root: of(ROOTS[size]) })) as [never, never]
    assert.ok(isConsistent(hasher, ...trees, grown))
  })

  test('has this vkey, from the seed', () => {
    const { key } = keyOfSeed('daybook.example/log', 'ed25519', LOG_SEED)
    assert.equal(formatVkey(key), LOG_VKEY)
    assert.deepEqual([log.keys[0]?.keyId, witness.keyId], ['97d6dc36', '4eaadc88'])
  })

  test('has this signed checkpoint, byte for byte', () => {
    const { key, sign } = keyOfSeed('daybook.example/log', 'ed25519', LOG_SEED)
    const text = formatCheckpoint({ origin: log.origin, size: 3, root: of(ROOTS[3]), extensions: [] })
    assert.equal(text, TEXT)
    const note = formatNote({ text, signatures: [signText(key, sign, text)] })
    assert.equal(note, `${TEXT}\n${LOG_LINE}`)
  })

  test('opens its checkpoint with the signatures of log and witness', async () => {
    const bytes = Buffer.from(`${TEXT}\n${LOG_LINE}${WITNESS_LINE}`)
    const opened = await openCheckpoint(bytes, log, verifyEd25519)
    assert.ok(opened.ok)
    assert.deepEqual(opened.value.signers, log.keys)
    assert.equal(hex(opened.value.checkpoint.root), ROOTS[3])
    const note = parseNote(bytes)
    assert.ok(note.ok)
    const vouching = await openVouching(note.value, [witness], { verifyEd25519, verifyMlDsa44: null })
    const vouchers = [{ name: 'witness.example/w1', timeSeconds: 1_760_000_000 }]
    assert.deepEqual(vouching, { ok: true, value: { vouchers, unverified: [] } })
    const bytes72 = note.value.signatures[1]?.signature ?? assert.fail()
    assert.equal(parseCosignature('ed25519-cosignature', bytes72)?.timeSeconds, 1_760_000_000)
    const message = cosignedMessage(witness, 1_760_000_000, TEXT) ?? assert.fail()
    assert.equal(Buffer.from(message).toString(), `cosignature/v1\ntime 1760000000\n${TEXT}`)
  })

  test('has a self-contained receipt for index 1', async () => {
    const checkpoint = `${TEXT}\n${LOG_LINE}${WITNESS_LINE}`
    const proof = inclusionProof(hasher, 1, 3, read) ?? []
    const text = formatReceipt({ index: 1, proof, checkpoint, extra: null })
    const hashes = [LEAVES[0], LEAVES[2]].map((digits) => `${of(digits).toString('base64')}\n`)
    assert.equal(text, `c2sp.org/tlog-proof@v1\nindex 1\n${hashes.join('')}\n${checkpoint}`)
    const receipt = parseReceipt(Buffer.from(text))
    assert.ok(receipt.ok)
    const leaves = [leafOf(0), leafOf(1)]
    const verdicts = await Promise.all(
      leaves.map((leaf) => openReceipt(hasher, receipt.value, leaf, log, verifyEd25519)),
    )
    assert.deepEqual(
      verdicts.map((verdict) => (verdict.ok ? verdict.value.index : verdict.doubt)),
      ['not-included', 1],
    )
  })
})

suite('the worked example of 70,000 events', () => {
  const tree = grow(Array.from({ length: 70_000 }, (_, index) => leafOf(index)))

  test('has this root, both grown and from its tiles', () => {
    const root = 'bMVMTlAZzy7K4+/AXfpzLc0t0F5L7o6u9BVFzxjSc1Q='
    assert.equal(Buffer.from(rootOf(hasher, tree.frontier)).toString('base64'), root)
    assert.deepEqual(frontierAt(hasher, 70_000, tree.read).roots.map(hex), tree.frontier.roots.map(hex))
  })

  test('has 277 tiles', () => {
    const paths = [...tilesOf(70_000)].map(formatTilePath)
    assert.equal(paths.length, 277)
    const full = Array.from({ length: 273 }, (_, index) => `tile/0/${String(index).padStart(3, '0')}`)
    const rest = ['tile/0/273.p/112', 'tile/1/000', 'tile/1/001.p/17', 'tile/2/000.p/1']
    assert.deepEqual(paths, [...full, ...rest])
  })

  test('proves any event with at most five tiles', () => {
    const root = rootOf(hasher, tree.frontier)
    for (const index of [0, 34_567, 65_535, 65_536, 69_999]) {
      let reads = 0
      const proof = inclusionProof(hasher, index, 70_000, (tile) => {
        reads += 1
        return tree.read(tile)
      })
      assert.ok(isIncluded(hasher, { leaf: leafOf(index), index, size: 70_000, root }, proof ?? []))
      assert.ok(reads <= 5, `${reads} reads`)
    }
  })
})
