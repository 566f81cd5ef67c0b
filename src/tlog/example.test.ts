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
import { rootOf } from './frontier.ts'
import { inclusionProof } from './proof.ts'
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
const ROOT = 'eb01740a49c17fc514b0f307486b807e2e6ddc2d7f246a970a212533bf96045c'
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
  const { frontier, read } = grow(LEAVES.map(of))

  test('has these lines and leaves', () => {
    assert.deepEqual([0, 1, 2].map(exampleLine), LINES)
    assert.deepEqual([0, 1, 2].map(leafOf).map(hex), LEAVES)
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

  test('has this vkey, from the seed', () => {
    const { key } = keyOfSeed('daybook.example/log', 'ed25519', LOG_SEED)
    assert.equal(formatVkey(key), LOG_VKEY)
    assert.deepEqual([log.keys[0]?.keyId, witness.keyId], ['97d6dc36', '4eaadc88'])
  })

  test('has this signed checkpoint, byte for byte', () => {
    assert.equal(hex(rootOf(hasher, frontier)), ROOT)
    const { key, sign } = keyOfSeed('daybook.example/log', 'ed25519', LOG_SEED)
    const text = formatCheckpoint({ origin: log.origin, size: 3, root: of(ROOT), extensions: [] })
    assert.equal(text, TEXT)
    const note = formatNote({ text, signatures: [signText(key, sign, text)] })
    assert.equal(note, `${TEXT}\n${LOG_LINE}`)
  })

  test('opens its checkpoint with the signatures of log and witness', async () => {
    const bytes = Buffer.from(`${TEXT}\n${LOG_LINE}${WITNESS_LINE}`)
    const opened = await openCheckpoint(bytes, log, verifyEd25519)
    assert.ok(opened.ok)
    assert.deepEqual(opened.value.signers, log.keys)
    assert.equal(hex(opened.value.checkpoint.root), ROOT)
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
