import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openReceipt } from '../../test/tlog/open-receipt.ts'
import * as fc from 'fast-check'
import { codePoints } from '../../test/story/code-points.ts'
import { grow, hasher, keyOfSeed, LOG_SEED, numberedLeaves, verifyEd25519 } from '../../test/tlog/example.ts'
import {
  type Checkpoint,
  formatCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  type TrustedLog,
} from './checkpoint.ts'
import { cosignText } from './cosignature.ts'
import { rootOf } from './frontier.ts'
import type { Hash } from './hash.ts'
import { inclusionProof } from './proof.ts'
import { formatNote, isLine, signText } from './note.ts'
import { formatReceipt, type InclusionReceipt, parseReceipt } from './receipt.ts'
import { DOUBTS } from './verdict.ts'

const ORIGIN = 'log.example/a'
const own = keyOfSeed(ORIGIN, 'ed25519', LOG_SEED)
const witness = keyOfSeed('witness.example/w', 'ed25519-cosignature', new Uint8Array(32).fill(3))
const log: TrustedLog = { origin: ORIGIN, keys: [own.key] }
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

function signedNote(checkpoint: Checkpoint): string {
  const text = formatCheckpoint(checkpoint)
  return formatNote({ text, signatures: [signText(own.key, own.sign, text)] })
}

const LEAVES = numberedLeaves(300)
const TREE = grow(LEAVES)
const CHECKPOINT = { origin: ORIGIN, size: 300, root: rootOf(hasher, TREE.frontier), extensions: [] }
const NOTE = signedNote(CHECKPOINT)

function receiptOf(index: number): InclusionReceipt {
  const proof = inclusionProof(hasher, index, 300, TREE.read) ?? assert.fail()
  return { index, proof, checkpoint: NOTE, extra: null }
}

const leafOf = (index: number): Hash => LEAVES[index] ?? assert.fail()
const outcomeOf = async (receipt: InclusionReceipt, leaf: Hash, trusted = log): Promise<string> => {
  const verdict = await openReceipt(hasher, receipt, leaf, trusted, verifyEd25519)
  return verdict.ok ? `${verdict.value.index} of ${verdict.value.checkpoint.size}` : verdict.doubt
}
const checked = async (note: string, trusted = log): Promise<string> => {
  const verdict = await openCheckpoint(Buffer.from(note), trusted, verifyEd25519)
  return verdict.ok ? String(verdict.value.checkpoint.size) : verdict.doubt
}

suite('a checkpoint', () => {
  const line = fc.string({ unit: codePoints, minLength: 1, maxLength: 30 }).filter(isLine)
  const checkpoints = fc
    .tuple(line, fc.maxSafeNat(), hash, fc.array(line, { maxLength: 3 }))
    .map(([origin, size, root, extensions]) => ({ origin, size, root, extensions }))

  test('is parsed to the formatted value, with extension lines', () => {
    fc.assert(
      fc.property(checkpoints, (checkpoint) => {
        assert.deepEqual(parseCheckpoint(formatCheckpoint(checkpoint)), checkpoint)
      }),
    )
  })

  const root = Buffer.from(CHECKPOINT.root).toString('base64')
  const refused: readonly (readonly [why: string, text: string])[] = [
    ['no root', `${ORIGIN}\n3\n`],
    ['no origin', `\n3\n${root}\n`],
    ['no final line feed', `${ORIGIN}\n3\n${root}`],
    ['a size with a leading zero', `${ORIGIN}\n03\n${root}\n`],
    ['a negative size', `${ORIGIN}\n-3\n${root}\n`],
    ['a size in hex', `${ORIGIN}\n0x3\n${root}\n`],
    ['a size of 2^53', `${ORIGIN}\n9007199254740992\n${root}\n`],
    ['a size with a space', `${ORIGIN}\n3 \n${root}\n`],
    ['a root of 31 bytes', `${ORIGIN}\n3\n${Buffer.alloc(31).toString('base64')}\n`],
    ['a root of 33 bytes', `${ORIGIN}\n3\n${Buffer.alloc(33).toString('base64')}\n`],
    ['a root without padding', `${ORIGIN}\n3\n${root.slice(0, -1)}\n`],
    ['an empty extension line', `${ORIGIN}\n3\n${root}\n\n`],
    ['an empty line before an extension line', `${ORIGIN}\n3\n${root}\n\nmore\n`],
    ['a carriage return', `${ORIGIN}\r\n3\n${root}\n`],
  ]
  for (const [why, text] of refused) {
    test(`is refused with ${why}`, () => assert.equal(parseCheckpoint(text), undefined))
  }

  test('is never formatted in a form that the parser refuses', () => {
    for (const change of [
      { origin: '' },
      { origin: 'a\nb' },
      { size: -1 },
      { size: 2 ** 53 },
      { extensions: [''] },
    ]) {
      assert.throws(() => formatCheckpoint({ ...CHECKPOINT, ...change }), RangeError)
    }
    assert.throws(() => formatCheckpoint({ ...CHECKPOINT, root: new Uint8Array(31) }), RangeError)
  })

  test('has the expected origin and is signed by its log', async () => {
    assert.equal(await checked(NOTE), '300')
    assert.equal(await checked(NOTE, { ...log, origin: 'log.example/b' }), 'other-origin')
    assert.equal(await checked(NOTE, { ...log, keys: [] }), 'no-known-signature')
    assert.equal(await checked(NOTE.replace('300', '301')), 'bad-signature')
    assert.equal(await checked(NOTE.replace('300', '0300')), 'checkpoint-malformed')
    assert.equal(await checked('nothing'), 'note-malformed')
  })

  test('is not signed by the log when only a witness has signed it', async () => {
    const text = formatCheckpoint(CHECKPOINT)
    const note = formatNote({ text, signatures: [cosignText(witness.key, witness.sign, 7, text)] })
    assert.equal(await checked(note), 'no-known-signature')
    // The key of a witness may be listed among the keys of the log.
    assert.equal(await checked(note, { ...log, keys: [witness.key] }), 'no-known-signature')
  })
})

suite('a receipt', () => {
  const receipts = fc
    .tuple(fc.maxSafeNat(), fc.array(hash, { maxLength: 63 }), fc.option(fc.uint8Array({ maxLength: 99 })))
    .map(([index, proof, extra]) => ({ index, proof, checkpoint: NOTE, extra }))

  test('is parsed to the formatted value', () => {
    fc.assert(
      fc.property(receipts, (receipt) => {
        assert.deepEqual(parseReceipt(Buffer.from(formatReceipt(receipt))), { ok: true, value: receipt })
      }),
    )
  })

  test('proves its leaf at its index in its log, and nothing else', async () => {
    for (const index of [0, 1, 255, 256, 299]) {
      const receipt = receiptOf(index)
      assert.equal(await outcomeOf(receipt, leafOf(index)), `${index} of 300`)
      assert.equal(await outcomeOf(receipt, leafOf((index + 1) % 300)), 'not-included')
      assert.equal(await outcomeOf({ ...receipt, index: (index + 1) % 300 }, leafOf(index)), 'not-included')
      assert.equal(await outcomeOf({ ...receipt, index: index + 300 }, leafOf(index)), 'not-included')
      assert.equal(await outcomeOf(receipt, leafOf(index), { ...log, origin: 'x' }), 'other-origin')
      assert.equal(await outcomeOf(receipt, leafOf(index).subarray(1)), 'not-included')
    }
  })

  test('proves nothing once any byte outside its extra line has changed', async () => {
    const formatted = Buffer.from(formatReceipt(receiptOf(256)))
    const changes = fc.tuple(fc.nat(formatted.length - 1), fc.integer({ min: 1, max: 255 }))
    await fc.assert(
      fc.asyncProperty(changes, async ([at, change]) => {
        const changed = Uint8Array.from(formatted, (byte, index) => (index === at ? byte ^ change : byte))
        const receipt = parseReceipt(changed)
        // A changed key id or name leaves no signature by a known key.
        if (receipt.ok) assert.ok((await outcomeOf(receipt.value, leafOf(256))) in DOUBTS)
      }),
      { numRuns: 500 },
    )
  })

  test('has only one accepted form', () => {
    const mutated = fc.tuple(receipts, fc.nat(), fc.nat(255), fc.constantFrom('alter', 'drop', 'add'))
    fc.assert(
      fc.property(mutated, ([receipt, pick, byte, way]) => {
        const given = [...Buffer.from(formatReceipt(receipt))]
        given.splice(pick % given.length, way === 'add' ? 0 : 1, ...(way === 'drop' ? [] : [byte]))
        const read = parseReceipt(Uint8Array.from(given))
        if (read.ok) assert.deepEqual([...Buffer.from(formatReceipt(read.value))], given)
      }),
      { numRuns: 500 },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (given) => !parseReceipt(given).ok))
  })

  const [head = '', ...rest] = formatReceipt(receiptOf(256)).split('\n')
  const refused: readonly (readonly [why: string, lines: readonly string[]])[] = [
    ['of another version', ['c2sp.org/tlog-proof@v2', ...rest]],
    ['without its first line', rest],
    ['without an index', [head, ...rest.slice(1)]],
    ['with an index twice', [head, 'index 256', ...rest]],
    ['with a leading zero in its index', [head, 'index 0256', ...rest.slice(1)]],
    ['with its extra line after the index', [head, rest[0] ?? '', 'extra AA==', ...rest.slice(1)]],
    ['with an extra line that is no base64', [head, 'extra !', ...rest]],
    ['with an extra line twice', [head, 'extra AA==', 'extra AA==', ...rest]],
    ['with a hash of 31 bytes', [head, 'index 256', Buffer.alloc(31).toString('base64'), ...rest.slice(1)]],
    [
      'with 64 hashes',
      [head, 'index 256', ...Array.from({ length: 63 }, () => rest[1] ?? ''), ...rest.slice(1)],
    ],
    ['with two blank lines', [head, ...rest.slice(0, rest.indexOf('')), '', ...rest.slice(rest.indexOf(''))]],
    ['without a checkpoint', [head, 'index 256', '', '']],
  ]
  for (const [why, lines] of refused) {
    test(`is refused ${why}`, () => {
      assert.deepEqual(parseReceipt(Buffer.from(lines.join('\n'))), { ok: false, doubt: 'receipt-malformed' })
    })
  }

  test('has a limited length', () => {
    assert.deepEqual(parseReceipt(new Uint8Array(524_289)), {
      ok: false,
      doubt: 'receipt-too-long',
    })
    const long = Buffer.alloc(65_537).toString('base64')
    const text = [head, `extra ${long}`, ...rest].join('\n')
    assert.deepEqual(parseReceipt(Buffer.from(text)), { ok: false, doubt: 'receipt-too-long' })
    const receipt = receiptOf(0)
    assert.throws(() => formatReceipt({ ...receipt, extra: Buffer.alloc(65_537) }), RangeError)
    assert.throws(() => formatReceipt({ ...receipt, index: -1 }), RangeError)
    assert.throws(() => formatReceipt({ ...receipt, proof: [new Uint8Array(31)] }), RangeError)
    assert.throws(() => formatReceipt({ ...receipt, checkpoint: 'none' }), RangeError)
    assert.ok(parseReceipt(Buffer.from(formatReceipt({ ...receipt, extra: Buffer.alloc(65_536) }))).ok)
  })
})
