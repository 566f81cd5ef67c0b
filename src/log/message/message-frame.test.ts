import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { randomMessages } from '../../../test/messages/random-messages.ts'
import { OTHER_KEY, signingKeyOf, TEST_KEY } from '../../../test/story/signing.ts'
import { verifierKeyOf } from '../tree/signer.ts'
import { readSections } from './commit-sections.ts'
import type { Message } from './message.ts'
import { decodeMessage, digestOfMessage, encodeMessage, FRAME_BYTES_MAX } from './message-frame.ts'
import { certifyNode, NODE_KEY_FILE, openNodeKey, openNodeVerifier } from './node-key.ts'

const LOG_ID = '0123456789abcdef0123456789abcdef'
const NODE_KEY = signingKeyOf('11'.repeat(32))
const NODE = certifyNode(LOG_ID, NODE_KEY, TEST_KEY)
const VERIFIER = openNodeVerifier(LOG_ID, [verifierKeyOf('daybook.test/messages', TEST_KEY.publicKey)])

/** Bytes of public key, certificate and signature. */
const TAIL_BYTES = 160

/** Reason why bytes are no message of a node of this log; null when they are one. */
function refusalOf(bytes: Uint8Array): string | null {
  const decoded = decodeMessage(bytes)
  return decoded.ok ? VERIFIER.refusalOf(decoded.signed) : decoded.reason
}

/** A message without Buffers, so that it can be compared. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

const SEAL: Message = {
  v: 1,
  logId: LOG_ID,
  stream: 1,
  place: 7,
  prev: new Uint8Array(32),
  is: 'seal',
  head: 3,
  root: new Uint8Array(32).fill(1),
  next: 2,
  why: 'roll',
}

test('the sections of a commit that was not moved have no signatures and no notes', () => {
  for (const [own, line] of [
    ['signatures', `[1,"${Buffer.alloc(64).toString('base64')}"]`],
    ['notes', '[1,"a note"]'],
  ]) {
    const section = (name: string): Uint8Array => Buffer.from(name === own ? `${line}\n` : '')
    assert.throws(() => readSections(section, { count: 0, moved: false }), /was not moved/)
    assert.ok(readSections(section, { count: 0, moved: true }).moved)
  }
})

suite('a message', () => {
  test('of any content is decoded as it was encoded, and is of its node', () => {
    fc.assert(
      fc.property(randomMessages, (message) => {
        const bytes = encodeMessage(message, NODE)
        const decoded = decodeMessage(bytes)
        assert.ok(decoded.ok, decoded.ok ? '' : decoded.reason)
        assert.deepEqual(plain(decoded.signed.message), plain(message))
        assert.equal(VERIFIER.refusalOf(decoded.signed), null)
        assert.deepEqual(encodeMessage(decoded.signed.message, NODE), bytes, 'it has one form')
      }),
      { numRuns: 300 },
    )
  })

  test('with any byte changed, cut or added is refused with a reason, and never throws', () => {
    const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    const kinds = fc.constantFrom('change', 'cut', 'remove', 'add', 'append')
    fc.assert(
      fc.property(
        randomMessages,
        fc.array(fc.tuple(places, kinds, fc.integer({ min: 1, max: 255 }))),
        (message, damages) => {
          const bytes = Buffer.from(encodeMessage(message, NODE))
          for (const [place, kind, by] of damages) {
            const at = Math.floor(place * bytes.length)
            const reason = refusalOf(damaged(bytes, kind, at, by))
            assert.notEqual(reason, null, `${kind} at ${at} of ${bytes.length}`)
            assert.ok((reason ?? '').length > 5, reason ?? '')
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('that a node signs with other content is refused, or is the one form of what is decoded', () => {
    const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(randomMessages, places, fc.integer({ min: 1, max: 255 }), (message, place, by) => {
        const bytes = Buffer.from(encodeMessage(message, NODE))
        const changed = damaged(bytes, 'change', Math.floor(place * (bytes.length - TAIL_BYTES)), by)
        const decoded = decodeMessage(changed)
        if (!decoded.ok) return
        const again = Buffer.from(encodeMessage(decoded.signed.message, NODE))
        assert.deepEqual(again.subarray(0, -TAIL_BYTES), changed.subarray(0, -TAIL_BYTES))
      }),
      { numRuns: 1_000 },
    )
  })

  test('of a small size is refused with each of its bytes changed', () => {
    const bytes = Buffer.from(encodeMessage(SEAL, NODE))
    for (let at = 0; at < bytes.length; at += 1) {
      for (const by of [1, 0x20, 0x80])
        assert.notEqual(refusalOf(damaged(bytes, 'change', at, by)), null, `byte ${at}`)
    }
  })

  test('of random bytes is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => assert.notEqual(refusalOf(bytes), null)),
    )
  })

  test('that is too large is refused', () => {
    assert.equal(refusalOf(new Uint8Array(FRAME_BYTES_MAX + 1)), `it has more than ${FRAME_BYTES_MAX} bytes`)
  })

  test('of a newer version is told from a damaged one', () => {
    const bytes = Buffer.from(encodeMessage(SEAL, NODE))
    const newer = Buffer.from(bytes)
    newer.write('2', 3)
    assert.deepEqual(codeOf(newer), 'unknown-version')
    const inHead = Buffer.from(bytes.toString('latin1').replace('{"v":1,', '{"v":2,'), 'latin1')
    assert.equal(codeOf(inHead), 'unknown-version')
    assert.equal(codeOf(bytes.subarray(1)), 'undecodable')
  })

  test('of another log’s node, or of a node that another key certified, is foreign', () => {
    const notCertified = 'no key of the log has certified the node that signed it'
    for (const node of [
      certifyNode('another', NODE_KEY, TEST_KEY),
      certifyNode(LOG_ID, NODE_KEY, OTHER_KEY),
    ]) {
      assert.equal(refusalOf(encodeMessage(SEAL, node)), notCertified)
    }
    const exchanged = { key: OTHER_KEY, certificate: NODE.certificate }
    assert.equal(refusalOf(encodeMessage(SEAL, exchanged)), notCertified)
  })

  test('has the SHA-256 of all its bytes as digest', () => {
    const [one, other] = [encodeMessage(SEAL, NODE), encodeMessage({ ...SEAL, place: 8 }, NODE)]
    assert.notDeepEqual(digestOfMessage(one), digestOfMessage(other))
    assert.equal(digestOfMessage(one).length, 32)
  })
})

function codeOf(bytes: Uint8Array): string {
  const decoded = decodeMessage(bytes)
  return decoded.ok ? 'decoded' : decoded.code
}

function damaged(bytes: Buffer, kind: string, at: number, by: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[at] = (changed[at] ?? 0) ^ by
  switch (kind) {
    case 'cut':
      return bytes.subarray(0, at)
    case 'remove':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
    case 'add':
      return Buffer.concat([bytes.subarray(0, at), Buffer.of(by), bytes.subarray(at)])
    case 'append':
      return Buffer.concat([bytes, Buffer.of(by)])
    default:
      return changed
  }
}

suite('the key of a node', () => {
  test('is made once, and only its owner may read it', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-node-key-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const made = openNodeKey(directory)
    assert.equal(statSync(join(directory, NODE_KEY_FILE)).mode & 0o777, 0o600)
    assert.deepEqual(openNodeKey(directory).publicKey, made.publicKey)
  })

  test('that cannot be read is named with what to do', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-node-key-'))
    t.after(() => rmSync(directory, { recursive: true }))
    openNodeKey(directory)
    const path = join(directory, NODE_KEY_FILE)
    writeFileSync(path, readFileSync(path).subarray(0, 20))
    assert.throws(() => openNodeKey(directory), /node\.key cannot be read as a key: remove it/)
  })
})
