import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { grow, hasher, sha256, verifyEd25519 } from '../../test/tlog/example.ts'
import { frontierAt, rootOf } from './frontier.ts'
import { inclusionProof } from './proof.ts'
import { formatVkey, openNote, parseNote, parseVkey } from './note.ts'

// Test vectors from other projects, independent of this code.

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
/** Leaves and roots of sizes 1 to 8 from the tests of google/certificate-transparency. */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
/** Note from the documentation of golang.org/x/mod/sumdb/note. */
const PETER_VKEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const PETER_NOTE =
  'If you think cryptography is the answer to your problem,\n' +
  "then you don't know what your problem is.\n" +
  '\n' +
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'

suite('the leaves of the Certificate Transparency tests', () => {
  const tree = grow(LEAVES.map((leaf) => hasher.leaf(Buffer.from(leaf, 'hex'))))

  test('give the roots of those tests', () => {
    for (const [index, root] of ROOTS.entries()) {
      assert.equal(hex(rootOf(hasher, frontierAt(hasher, index + 1, tree.read))), root)
    }
  })

  test('give the inclusion proof of those tests', () => {
    assert.deepEqual(inclusionProof(hasher, 0, 8, tree.read)?.map(hex), [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ])
  })
})

suite('the Go checksum database', () => {
  test('documents a note that opens with its key', async () => {
    const key = parseVkey(sha256, PETER_VKEY) ?? assert.fail()
    assert.equal(formatVkey(key), PETER_VKEY)
    const note = parseNote(Buffer.from(PETER_NOTE))
    assert.ok(note.ok && (await openNote(note.value, [key], verifyEd25519)).ok)
  })

  test('has a vkey with a plus in its base64', () => {
    const vkey = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8'
    assert.equal(parseVkey(sha256, vkey)?.name, 'sum.golang.org')
  })
})
