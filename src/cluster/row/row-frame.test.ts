import assert from 'node:assert/strict'
import { sign } from 'node:crypto'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { randomRows } from '../../../test/cluster/row/random-rows.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { openSigner, sha256, verifierKeyOf } from '../../log/tree/signer.ts'
import type { Month } from '../../protocol/moment.ts'
import { ROW_BYTES_MAX } from '../table/log-table.ts'
import type { LogRow } from './log-row.ts'
import { ROW_SECTIONS } from './row-json.ts'
import {
  decodeRow,
  digestOfRow,
  encodeRow,
  openRowVerifier,
  readRowSections,
  ROW_SIGNATURE_BYTES,
  signRow,
} from './row-frame.ts'

const ORIGIN = 'daybook.test/rows'
const VERIFIER = openRowVerifier([verifierKeyOf(ORIGIN, TEST_KEY.publicKey)])
const FOREIGN = 'no key of the log has signed it'

/** Reason why bytes are no row of this log; null when they are one. */
function refusalOf(bytes: Uint8Array): string | null {
  const decoded = decodeRow(bytes)
  return decoded.ok ? VERIFIER.refusalOf(decoded.signed) : decoded.reason
}

/** A row without Buffers, so that it can be compared. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

const END: LogRow = {
  v: 1,
  logId: '0123456789abcdef0123456789abcdef',
  place: 7,
  prev: new Uint8Array(32),
  is: 'end',
  head: 3,
  root: new Uint8Array(32).fill(1),
  nonce: new Uint8Array(32).fill(2),
}

test('the sections of a commit that was not moved have no signatures and no notes', () => {
  for (const [own, line] of [
    ['signatures', `[1,"${Buffer.alloc(64).toString('base64')}"]`],
    ['notes', '[1,"a note"]'],
  ]) {
    const sections = ROW_SECTIONS.map((name) => Buffer.from(name === own ? `${line}\n` : ''))
    assert.throws(() => readRowSections(sections, { count: 0, moved: false }), /was not moved/)
    assert.ok(readRowSections(sections, { count: 0, moved: true }).moved)
  }
})

suite('a row', () => {
  test('of any content is decoded as it was encoded, and is of its log', () => {
    fc.assert(
      fc.property(randomRows, (row) => {
        const bytes = encodeRow(row, TEST_KEY)
        const decoded = decodeRow(bytes)
        assert.ok(decoded.ok, decoded.ok ? '' : decoded.reason)
        assert.deepEqual(plain(decoded.signed.row), plain(row))
        assert.equal(VERIFIER.refusalOf(decoded.signed), null)
        assert.deepEqual(encodeRow(decoded.signed.row, TEST_KEY), bytes, 'it has one form')
      }),
      { numRuns: 100 },
    )
  })

  test('with any byte changed, cut or added is refused with a reason, and never throws', () => {
    const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    const kinds = fc.constantFrom('change', 'cut', 'remove', 'add', 'append')
    fc.assert(
      fc.property(
        randomRows,
        fc.array(fc.tuple(places, kinds, fc.integer({ min: 1, max: 255 }))),
        (row, damages) => {
          const bytes = Buffer.from(encodeRow(row, TEST_KEY))
          for (const [place, kind, by] of damages) {
            const at = Math.floor(place * bytes.length)
            const reason = refusalOf(damaged(bytes, kind, at, by))
            assert.notEqual(reason, null, `${kind} at ${at} of ${bytes.length}`)
            assert.ok((reason ?? '').length > 5, reason ?? '')
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  test('that the log’s key signs with other content is refused, or is the one form of what is decoded', () => {
    const places = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(randomRows, places, fc.integer({ min: 1, max: 255 }), (row, place, by) => {
        const bytes = Buffer.from(encodeRow(row, TEST_KEY))
        const changed = damaged(bytes, 'change', Math.floor(place * (bytes.length - ROW_SIGNATURE_BYTES)), by)
        const decoded = decodeRow(changed)
        if (!decoded.ok) return
        const again = Buffer.from(encodeRow(decoded.signed.row, TEST_KEY))
        assert.deepEqual(again.subarray(0, -ROW_SIGNATURE_BYTES), changed.subarray(0, -ROW_SIGNATURE_BYTES))
      }),
      { numRuns: 300 },
    )
  })

  test('that the log’s key signs is refused in another form of the same content', () => {
    const bytes = Buffer.from(encodeRow(END, TEST_KEY))
    const json = bytes.toString('utf8', 8, bytes.length - ROW_SIGNATURE_BYTES)
    const framed = (head: string, more = ''): Uint8Array => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(Buffer.byteLength(head))
      const before = Buffer.concat([Buffer.from('DBC1'), length, Buffer.from(head), Buffer.from(more)])
      return Buffer.concat([before, signRow(sha256(before), TEST_KEY)])
    }
    assert.deepEqual(framed(json), bytes)
    for (const head of [
      ` ${json}`,
      `${json}\n`,
      json.replace('"v":1', '"v":1.0'),
      json.replace('}', ',"x":0}'),
    ])
      assert.equal(refusalOf(framed(head)), 'head is not in its one form', head)
    assert.equal(refusalOf(framed(json, ' ')), 'bytes follow its head')
    const commit = json
      .replace('"end"', '"commit"')
      .replace(
        /"head".*/,
        `"first":1,"count":0,"root":"${'01'.repeat(32)}","moved":false,"sizes":SIZES,"segments":[]}`,
      )
    const held = '{"is":"remove","ids":[1]}\n'
    const sized = (size: number): string => commit.replace('SIZES', `[0,0,0,${size},0,0]`)
    assert.equal(refusalOf(framed(sized(held.length), held)), null)
    assert.equal(refusalOf(framed(sized(held.length), `${held} `)), 'bytes follow its sections')
    const spaced = held.replace(',', ', ')
    assert.equal(refusalOf(framed(sized(spaced.length), spaced)), 'held is not in its one form')
    assert.equal(refusalOf(framed(sized(held.length - 1), held.trim())), 'held does not end with a newline')
  })

  test('of a small size is refused with each of its bytes changed', () => {
    const bytes = Buffer.from(encodeRow(END, TEST_KEY))
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
    assert.equal(refusalOf(new Uint8Array(ROW_BYTES_MAX + 1)), `it has more than ${ROW_BYTES_MAX} bytes`)
  })

  test('that is too large is not encoded', () => {
    const commit = {
      is: 'commit',
      first: 1,
      root: END.prev,
      lines: [],
      details: [],
      refs: [],
      held: [],
      moved: null,
    } as const
    const { v, logId, place, prev } = END
    const segment = { month: '2026-01' as Month, file: 'events', start: 0 } as const
    const encoded = (bytes: number, segments: number): Uint8Array => {
      const carried = Array.from({ length: segments }, () => ({ ...segment, bytes: new Uint8Array(bytes) }))
      return encodeRow({ v, logId, place, prev, ...commit, segments: carried }, TEST_KEY)
    }
    const room = ROW_BYTES_MAX - encoded(ROW_BYTES_MAX - 1_000, 1).length
    assert.equal(refusalOf(encoded(ROW_BYTES_MAX - 1_000 + room, 1)), null)
    assert.throws(() => encoded(ROW_BYTES_MAX - 999 + room, 1), /a row has 4194305 bytes/)
    assert.throws(() => encoded(1, 10_000), /the head of a row has/)
  })

  test('has these bytes, which no release may change', () => {
    const bytes = Buffer.from(encodeRow(END, TEST_KEY))
    const head = `{"v":1,"is":"end","logId":"${END.logId}","place":7,"prev":"${'00'.repeat(32)}","head":3,"root":"${'01'.repeat(32)}","nonce":"${'02'.repeat(32)}"}`
    assert.equal(bytes.toString('latin1', 0, 4), 'DBC1')
    assert.equal(bytes.readUInt32BE(4), head.length)
    assert.equal(bytes.toString('utf8', 8, 8 + head.length), head)
    assert.equal(bytes.length, 8 + head.length + ROW_SIGNATURE_BYTES)
    assert.equal(
      Buffer.from(digestOfRow(bytes)).toString('hex'),
      '3ee3d7e16ed003f2d08495cbd77a918a2f46eb79f2548076d1791b9e99eeadce',
    )
  })

  test('of a newer version is told from a damaged one', () => {
    const bytes = Buffer.from(encodeRow(END, TEST_KEY))
    const newer = Buffer.from(bytes)
    newer.write('2', 3)
    assert.deepEqual(codeOf(newer), 'unknown-version')
    const inHead = Buffer.from(bytes.toString('latin1').replace('{"v":1,', '{"v":2,'), 'latin1')
    assert.equal(codeOf(inHead), 'unknown-version')
    assert.equal(codeOf(bytes.subarray(1)), 'undecodable')
  })

  test('is foreign when another key signed it, and may be signed by any key of the log', () => {
    assert.equal(refusalOf(encodeRow(END, OTHER_KEY)), FOREIGN)
    const decoded = decodeRow(encodeRow(END, OTHER_KEY))
    assert.ok(decoded.ok)
    const both = [TEST_KEY, OTHER_KEY].map(({ publicKey }) => verifierKeyOf(ORIGIN, publicKey))
    assert.equal(openRowVerifier(both).refusalOf(decoded.signed), null)
    assert.equal(openRowVerifier([]).refusalOf(decoded.signed), FOREIGN)
  })

  test('is foreign when the key of the log signed it in another context', () => {
    const bytes = Buffer.from(encodeRow(END, TEST_KEY))
    const before = bytes.subarray(0, -ROW_SIGNATURE_BYTES)
    const digest = sha256(before)
    const signed = (text: Uint8Array): Uint8Array =>
      Buffer.concat([before, sign(null, text, TEST_KEY.privateKey)])
    const context = Buffer.from('daybook/commit/v1\n')
    assert.deepEqual(signed(Buffer.concat([context, digest])), bytes)
    for (const other of ['', 'daybook/commit/v1', 'daybook/commit/v2\n', 'daybook/commit/v1\n\n'])
      assert.equal(refusalOf(signed(Buffer.concat([Buffer.from(other), digest]))), FOREIGN, other)
    assert.equal(refusalOf(signed(before)), FOREIGN)
    assert.equal(refusalOf(signed(Buffer.concat([context, before]))), FOREIGN)
    const { signature } = openSigner(ORIGIN, [TEST_KEY]).sign({ size: 3, root: digest })
    const ofTree = Buffer.concat([before, signature.subarray(-ROW_SIGNATURE_BYTES)])
    assert.equal(refusalOf(ofTree), FOREIGN, 'a signature of a checkpoint is none of a row')
  })

  test('has the SHA-256 of all its bytes as digest', () => {
    const [one, other] = [encodeRow(END, TEST_KEY), encodeRow({ ...END, place: 8 }, TEST_KEY)]
    assert.notDeepEqual(digestOfRow(one), digestOfRow(other))
    assert.equal(digestOfRow(one).length, 32)
  })
})

function codeOf(bytes: Uint8Array): string {
  const decoded = decodeRow(bytes)
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
